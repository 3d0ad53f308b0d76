#include "training/setup.h"

#include <fmt/format.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <algorithm>

#include "base/cpu.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/version.h"
#include "checkpoint/run_folder.h"
#include "config/field.h"
#include "config/writer.h"
#include "kernels/device.h"
#include "kernels/loops/products.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "model/initialisation.h"
#include "optim/optimizer.h"
#include "training/data_loader.h"
#include "training/distributed.h"
#include "training/initial_model.h"
#include "training/setup_report.h"
#include "training/train_step.h"
#include "translation/ensemble_folders.h"
#include "translation/long_lines.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {
namespace {

// Returns the precision in which this machine trains: a precision other than `automatic` itself,
// `recorded` if that is given, or the fastest that the device has. Throws EnvironmentError if the
// device does not have it.
TrainingPrecision resolve_precision(TrainingPrecision wanted, torch::Device device,
                                    std::optional<TrainingPrecision> recorded = std::nullopt) {
  using enum TrainingPrecision;
  const bool has_bf16 =
      device.is_cuda() ? has_tf32(device) : kernels::can_multiply(kernels::Precision::bf16);
  auto precision = wanted;
  if (wanted == automatic && recorded) {
    // Runs of versions without this option were in single precision.
    precision = *recorded == automatic ? fp32 : *recorded;
  } else if (wanted == automatic) {
    precision = has_tf32(device)                                                      ? tf32
                : kernels::find_precision("auto", device) == kernels::Precision::bf16 ? bf16
                                                                                      : fp32;
  }
  const bool is_missing =
      (precision == bf16 && !has_bf16) || (precision == tf32 && !has_tf32(device));
  if (!is_missing) return precision;
  throw EnvironmentError(
      "training.precision: {}{}, which {} on this machine does not have; set training.precision to "
      "fp32",
      wanted == automatic ? "this run was started in " : "found ", enum_name(precision),
      precision == tf32 || !device.is_cpu() ? fmt::format("the device {}", device.str())
                                            : "the processor");
}

// Throws ConfigError if data.noise would change nothing, or if the pairs of a masked language model
// have two sides. Without data.prepared, config/check.h finds both.
void check_noise(const Options& options, const Corpus& corpus) {
  const auto has_equal_sides = [](const CorpusPart& part) { return part.has_equal_sides; };
  const auto& parts = corpus.parts();
  if (options.model.kind == ModelKind::masked_language_model) {
    if (std::ranges::all_of(parts, has_equal_sides)) return;
    throw ConfigError(
        "data.prepared: found pairs of two files in {}, but a masked language model reads one "
        "text; run `regard prepare` with this configuration into another folder",
        options.data.prepared);
  }
  if (!is_active(options.data.noise) || std::ranges::any_of(parts, has_equal_sides)) return;
  throw ConfigError(
      "data.noise is on, but no corpus in data.prepared ({}) has the same file as src and trg, "
      "which is what is reconstructed from noise; remove data.noise",
      options.data.prepared);
}

void load_data(Setup& setup, DataLoader& loader) {
  const auto& options = setup.options;
  setup.corpus = loader.training(options, setup.codec);
  check_noise(options, *setup.corpus);
  setup.hallucination = Hallucination(options.data, *setup.corpus);
  setup.codec.lengths = line_lengths(*setup.corpus, languages(options).first);
  if (!options.data.dev.src.empty()) setup.dev = loader.validation(options, setup.codec);
  setup.digests = loader.digests();
  log::info("{}", data_table(*setup.corpus, setup.dev ? &*setup.dev : nullptr));
  warn_of_unknown_tokens(*setup.corpus);
  warn_of_validation_data(options, setup.dev ? &*setup.dev : nullptr);
}

void make_model(Setup& setup, InitialModel* initial) {
  {
    // The generator's state is in the checkpoint too.
    std::optional<SkipInitialisation> weights_follow;
    if (setup.checkpoint) weights_follow.emplace();
    setup.model =
        build_model(setup.codec.source->size(), setup.codec.target->size(), setup.options.model);
  }
  if (setup.checkpoint) {
    load_weights(*setup.model, read_weights(*setup.checkpoint), setup.checkpoint->path().string());
  } else if (initial != nullptr) {
    initial->copy_weights(*setup.model, setup.options);
  }
  setup.model->to(setup.device);
  log::info("{}", parameter_table(*setup.model));
  report_rates(*setup.model, setup.options.training);
}

// Returns `threads`; for 0, this process's share of the processors that it may use.
std::int64_t threads_of(const Options& options, const ProcessGroup& group) {
  if (options.threads > 0) return options.threads;
  return std::max<std::int64_t>(
      1, usable_processors() / static_cast<std::int64_t>(group.local_size()));
}

// Throws InputError if a validation pair has more tokens than the model has positions. Training
// pairs are limited by data.max_length, which config/check.h compares with the positions.
void check_dev_lengths(const Setup& setup) {
  if (!setup.dev) return;
  const auto check = [](std::size_t tokens, const std::optional<LengthLimit>& limit,
                        const std::string& path, std::int64_t line) {
    try {
      check_length(tokens, limit);
    } catch (const InputError& error) {
      throw InputError("{}:{}: {}", path, line, error.what());
    }
  };
  const auto source_limit = setup.model->source_limit();
  const auto target_limit = setup.model->target_limit();
  const auto& source = setup.options.data.dev.src;
  const auto& target = setup.options.data.dev.trg;
  for (std::int64_t i = 0; i < setup.dev->size(); ++i) {  // pair i is line i + 1
    check(static_cast<std::size_t>(setup.dev->source_length(i)), source_limit, source, i + 1);
    check(static_cast<std::size_t>(setup.dev->target_length(i)), target_limit, target, i + 1);
  }
}

// Returns the facts that the processes of one training must share, for check_equal(). Paths and
// folders may differ. On processors with other kernels, the same sums would be rounded differently,
// and the weights would drift apart.
Json facts_of(const Setup& setup) {
  auto options = setup.options;
  options.device = "";
  options.threads = 0;
  options.training.model_dir = "";
  std::string data;
  const auto add = [&](const std::string& key, std::string& path) {
    if (path.empty()) return;
    const auto& digest = setup.digests.at(path);
    data += fmt::format("{}: {}, sha256 {}\n", key, counted(digest.lines, "line"), digest.sha256);
    path = "";
  };
  const auto add_sides = [&](const std::string& key, const auto& pair) {
    if (is_denoising(options.data, pair)) data += key + ": source and target are the same file\n";
  };
  add_sides("data.dev", options.data.dev);
  for (std::size_t i = 0; i < options.data.train.size(); ++i) {
    add_sides(fmt::format("data.train.{}", i), options.data.train[i]);
    add(fmt::format("data.train.{}.src", i), options.data.train[i].src);
    add(fmt::format("data.train.{}.trg", i), options.data.train[i].trg);
  }
  add("data.prepared", options.data.prepared);
  add("data.dev.src", options.data.dev.src);
  add("data.dev.trg", options.data.dev.trg);
  options.data.tokenizer.src_file = options.data.tokenizer.trg_file = "";
  const auto& source = *setup.codec.source;
  const auto& target = *setup.codec.target;
  return {{"version", fmt::format("regard {}, LibTorch {}", version(), TORCH_VERSION)},
          {"configuration", write_options(options)},
          {"text", data},
          {"kind of processor", setup.device.is_cpu() ? std::string(cpu_level_name()) : "GPU"},
          {"vocabulary", fmt::format("{} and {} tokens, sha256 {}", source.size(), target.size(),
                                     sha256(source.serialized() + target.serialized()))},
          {"set of weights", "sha256 " + digest_of(parameters_of(*setup.model))}};
}

}  // namespace

std::string digest_of(const NamedTensors& tensors) {
  Sha256 hash;
  for (const auto& [name, tensor] : tensors) {
    const auto values = tensor.detach().cpu().contiguous();
    hash.update({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  }
  return hash.hex_digest();
}

void roll_back(Setup& setup, const std::filesystem::path& checkpoint) {
  setup.checkpoint.emplace(checkpoint);
  load_weights(*setup.model, read_weights(*setup.checkpoint), checkpoint.string());
}

BatchSampler make_sampler(const Setup& setup) {
  const auto& options = setup.options;
  // One position is for </s>.
  SubwordSampling sampling{.amount = options.data.tokenizer.sampling};
  if (const auto limit = setup.model->source_limit()) {
    sampling.max_source_length = limit->max_tokens - 1;
  }
  if (const auto limit = setup.model->target_limit()) {
    sampling.max_target_length = limit->max_tokens - 1;
  }
  return {*setup.corpus,
          {options.training.batch_size, options.training.batch_type},
          static_cast<std::uint64_t>(options.training.random_seed),
          sampling,
          SourceNoise(options),
          setup.hallucination};
}

void check_parameter_patterns(const Options& options) {
  const auto& training = options.training;
  if (training.freeze.empty() && training.learning_rates.empty()) return;
  auto model_options = options.model;
  resolve_automatic(model_options);
  constexpr std::int64_t V = 8;
  const SkipInitialisation only_names_are_read;
  learning_rate_factors(training, parameters_of(*build_model(V, V, model_options)));
}

Setup make_setup(const Options& options, const std::optional<std::filesystem::path>& last,
                 const std::string& init_from, ProcessGroup& group) {
  Setup setup;
  setup.options = options;
  setup.device = find_device(options.device, group.device_rank());
  setup.pool = make_thread_pool(threads_of(options, group), setup.device);
  const auto shards = shards_of(setup.options.training, *setup.pool, setup.device);
  group.set_shards(shards);
  if (shards < setup.pool->count()) {
    log::warning("training.shards is {}, so that only so many of {} can compute a step", shards,
                 counted(setup.pool->count(), "thread"));
  }
  group.use_device(setup.device);
  torch::manual_seed(static_cast<std::uint64_t>(options.training.random_seed));
  // A GPU trains with one thread; text is always read on all of them.
  std::optional<ThreadPool> cpu_pool;
  if (!setup.device.is_cpu()) {
    cpu_pool.emplace(static_cast<std::size_t>(threads_of(options, group)));
  }
  DataLoader loader(options, cpu_pool ? *cpu_pool : *setup.pool);
  loader.complete(setup.options.data);
  std::optional<InitialModel> initial;
  auto& precision = setup.options.training.precision;
  if (last) {
    setup.checkpoint.emplace(*last);
    const auto before = read_model_options(*setup.checkpoint);
    if (!init_from.empty()) keep_tokenizers_of(setup.options, before);
    adopt_automatic(setup.options.model, before.model);
    resolve_automatic(setup.options.model);
    compare_with_checkpoint(*setup.checkpoint, before, setup.options);
    precision = resolve_precision(precision, setup.device, before.training.precision);
    setup.codec = read_codec(*setup.checkpoint, setup.options);
    setup.descent = descent_of(*setup.checkpoint);
  } else if (precision = resolve_precision(precision, setup.device); !init_from.empty()) {
    // Its weights only make sense with its vocabulary.
    retry_if_removed([&] {
      initial.emplace(resolve_model(init_from));
      adopt_automatic(setup.options.model, initial->options().model);
      setup.codec = initial->take_codec(setup.options, loader);
    });
    // A model of another kind gives only a part of the weights.
    if (initial->options().model.kind == setup.options.model.kind) {
      setup.descent = initial->descent();
    }
  } else {
    setup.codec = loader.make_codec();
  }
  resolve_automatic(setup.options.model);
  if (!last) report_widths(options.model, setup.options.model);
  allow_tf32(precision == TrainingPrecision::tf32);
  load_data(setup, loader);
  make_model(setup, initial ? &*initial : nullptr);
  check_dev_lengths(setup);
  if (!group.is_alone()) check_equal(group, facts_of(setup));
  return setup;
}

}  // namespace regard
