#include "training/setup.h"

#include <fmt/ranges.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <algorithm>
#include <map>

#include "base/cpu.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/version.h"
#include "checkpoint/run_folder.h"
#include "config/writer.h"
#include "data/corpus_statistics.h"
#include "kernels/device.h"
#include "kernels/product_rows.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "model/initialisation.h"
#include "optim/optimizer.h"
#include "report/format.h"
#include "report/table.h"
#include "text/unspaced_script.h"
#include "training/data_loader.h"
#include "training/distributed.h"
#include "training/initial_model.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {
namespace {

// Returns the module that a parameter belongs to, at most three levels deep: "encoder.layer0" for
// "encoder.layer0.W". Returns the name of a parameter that is in no module, such as "output_bias".
std::string module_of(const std::string& parameter) {
  auto module = parameter.substr(0, parameter.rfind('.'));
  while (std::ranges::count(module, '.') > 2) module.resize(module.rfind('.'));
  return module;
}

std::vector<std::string> data_row(const std::string& name, const Corpus& corpus,
                                  bool has_duplicates) {
  const auto& r = corpus.report();
  const auto side = [&](const CorpusReport::Side& s) {
    return fmt::format("{} ({:.1f} a line, {:.2f} % unknown)", format_thousands(s.tokens),
                       r.mean_length(s), 100 * r.unknown_rate(s));
  };
  std::vector<std::string> row = {name,
                                  format_thousands(r.read),
                                  format_thousands(r.kept),
                                  format_thousands(r.empty),
                                  format_thousands(r.too_long),
                                  format_thousands(r.high_ratio)};
  if (has_duplicates) row.push_back(format_thousands(r.duplicates));
  const bool has_source = !corpus.tokenizers().source->ignores_text();
  row.push_back(has_source ? side(r.source) : "–");  // a language model has none
  row.push_back(side(r.target));
  return row;
}

bool is_tokenizer_file(const Difference& difference) {
  return difference.is_at("data.tokenizer.src_file") || difference.is_at("data.tokenizer.trg_file");
}

// Returns true for options that determine the tensors of a checkpoint: the options of the model,
// the tokenizers and the optimizer state.
bool is_fixed(const Difference& difference, const TrainingOptions& before,
              const TrainingOptions& now) {
  if (difference.is_at("model.dropout") || difference.is_at("data.tokenizer.sampling") ||
      is_tokenizer_file(difference)) {
    return false;
  }
  if (difference.is_at("training.moving_average")) {
    return (before.moving_average > 0) != (now.moving_average > 0);
  }
  return difference.is_at("model") || difference.is_at("data.tokenizer") ||
         difference.is_at("training.optimizer");
}

// consequence() mentions an increase of the learning rate by at least this factor.
constexpr double large_increase = 4;

// Returns a clause on what a changed option does to the run, to append to a warning; "" for most
// options.
std::string consequence(const Difference& difference, const TrainingOptions& before,
                        const TrainingOptions& now) {
  if (difference.is_at("training.learning_rate") && before.learning_rate > 0) {
    const auto ratio = now.learning_rate / before.learning_rate;
    if (ratio < large_increase) return "";
    return fmt::format("; {:.3g} times as high: the loss may rise and stay high", ratio);
  }
  if (is_tokenizer_file(difference)) return "; the run keeps the tokenizers of its checkpoint";
  const bool changes_length = difference.is_at("training.max_steps") ||
                              (difference.is_at("training.epochs") && before.max_steps == 0);
  if (changes_length && before.scheduling == ScheduleKind::cosine && before.decay_steps == 0) {
    return "; the cosine schedule now ends at another step: the learning rates differ from those "
           "of a run that had this length from the start";
  }
  return "";
}

// Reads the checkpoint's options. Throws DamagedError if config.yaml is not valid.
Options options_of(const FolderReader& checkpoint) {
  try {
    return read_model_options(checkpoint);
  } catch (const ConfigError& error) {
    throw DamagedError("{}", error.what());
  }
}

// Compares the options of the checkpoint with those of now. Throws CheckpointError if an option
// differs on which the checkpoint depends. Warns of other differences.
void compare_with_checkpoint(const FolderReader& checkpoint, const Options& before,
                             Options options) {
  if (options.training.precision == TrainingPrecision::automatic) {
    options.training.precision = before.training.precision;
  }
  std::string fixed;
  for (const auto& difference : option_differences(before, options)) {
    if (is_fixed(difference, before.training, options.training)) {
      fixed += "\n  " + difference.text();
    } else {
      log::warning("changed since this run last trained: {}{}", difference.text(),
                   consequence(difference, before.training, options.training));
    }
  }
  if (fixed.empty()) return;
  if (!is_intact(checkpoint.path(), /*may_change=*/{})) {
    fixed +=
        "\nIts config.yaml has changed since it was written; --fall-back skips this checkpoint.";
  }
  throw CheckpointError(
      "{}: the run started with other options:{}\nRestore these to continue it, or start another "
      "run in another training.model_dir (with --init-from for its weights)",
      checkpoint.path().string(), fixed);
}

// BLEU in training uses the tokenizer 13a, which splits words at spaces.
void warn_of_unspaced_text(const Setup& setup) {
  const auto& o = setup.options.training;
  const bool selects_best = o.early_stopping_metric == Metric::bleu;
  const bool is_objective =
      o.objective == Objective::minimum_risk && o.minimum_risk.metric == RiskMetric::bleu;
  if (!setup.dev || (!selects_best && !is_objective)) return;
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < setup.dev->size(); ++i)
    lines.emplace_back(setup.dev->target_text(i));
  const auto script = unspaced_script(lines);
  if (!script) return;
  const auto warn = [&](const char* what, const char* key) {
    log::warning(
        "{}: found {}, which has no spaces between words. {} counts each clause as one word; set "
        "training.{} to chrf",
        setup.options.data.dev.trg, language_name(*script), what, key);
  };
  if (selects_best) {
    warn("Validation BLEU, which selects the best checkpoint,", "early_stopping_metric");
  }
  if (is_objective) warn("The BLEU of minimum risk training", "minimum_risk.metric");
}

// A validation pair without a tag that all corpora have is translated as no user would.
void warn_of_missing_tags(const DataOptions& data) {
  if (data.train.empty() || data.dev.src.empty()) return;
  const auto warn = [&](const char* key, const auto& tag_of) {
    const auto has_tag = [&](const auto& pair) { return !tag_of(pair).empty(); };
    if (has_tag(data.dev) || !std::ranges::all_of(data.train, has_tag)) return;
    log::warning(
        "data.dev has no {0}, but each corpus of data.train has one; set data.dev.{0}, or the "
        "validation scores are those of text without a tag",
        key);
  };
  warn("src_tag", [](const auto& pair) { return pair.src_tag; });
  warn("trg_tag", [](const auto& pair) { return pair.trg_tag; });
}

// Scores of a validation pair of the opposite direction say nothing.
void warn_of_exchanged_sides(const DataOptions& data) {
  const bool is_text = data.prepared.empty() && data.source == SourceKind::text;
  if (!is_text || data.train.empty() || data.dev.src.empty()) return;
  const auto is_exchanged = [&](const CorpusOptions& corpus) {
    return sides_are_exchanged({corpus.src, corpus.trg}, {data.dev.src, data.dev.trg});
  };
  if (!std::ranges::all_of(data.train, is_exchanged)) return;
  log::warning(
      "{}, {}: the words are those of the other side of data.train; exchange data.dev.src and "
      "data.dev.trg",
      data.dev.src, data.dev.trg);
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
  setup.corpus = loader.training(options, setup.tokenizers);
  check_noise(options, *setup.corpus);
  if (!options.data.dev.src.empty()) setup.dev = loader.validation(options, setup.tokenizers);
  setup.digests = loader.digests();
  setup.has_corpus_cache = loader.used_cache();
  setup.trained_tokenizers = loader.trained_tokenizers();
  log::info("{}", data_table(*setup.corpus, setup.dev ? &*setup.dev : nullptr));
  warn_of_unspaced_text(setup);
  warn_of_missing_tags(options.data);
  warn_of_exchanged_sides(options.data);
}

// Tells which parameters are frozen or have a learning rate of their own. Throws as
// learning_rate_factors() does.
void report_rates(const Setup& setup) {
  const auto parameters = parameters_of(*setup.model);
  const auto factors = learning_rate_factors(setup.options.training, parameters);
  std::map<double, std::int64_t> numbers;  // of parameters, by factor
  std::int64_t all = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    numbers[factors[i]] += parameters[i].second.numel();
    all += parameters[i].second.numel();
  }
  for (const auto& [factor, count] : numbers) {
    if (factor == 1) continue;
    const auto what = factor == 0 ? "are frozen" : fmt::format("learn {} times as fast", factor);
    log::info("{} of {} parameters {}", format_thousands(count), format_thousands(all), what);
  }
}

void make_model(Setup& setup, InitialModel* initial) {
  {
    // The generator's state is in the checkpoint too.
    std::optional<SkipInitialisation> weights_follow;
    if (setup.checkpoint) weights_follow.emplace();
    setup.model = build_model(setup.tokenizers.source->size(), setup.tokenizers.target->size(),
                              setup.options.model);
  }
  if (setup.checkpoint) {
    load_weights(*setup.model, read_weights(*setup.checkpoint), setup.checkpoint->path().string());
  } else if (initial != nullptr) {
    initial->copy_weights(*setup.model, setup.options);
  }
  setup.model->to(setup.device);
  log::info("{}", parameter_table(*setup.model));
  report_rates(setup);
}

// Tells of a width that has no effect, and of matrices that the model has only because widths
// differ.
void report_widths(const ModelOptions& given, const ModelOptions& resolved) {
  const bool has_attention =
      resolved.kind == ModelKind::translation && resolved.decoder.kind == LayerKind::recurrent;
  if (has_attention && !is_read(resolved.attention, &AttentionOptions::size) &&
      resolved.attention.size != AttentionOptions().size) {
    log::info("model.attention.size has no effect: {} does not read it",
              enum_name(resolved.attention.kind));
  }
  if (given.attention.project_keys != resolved.attention.project_keys &&
      resolved.attention.project_keys == ProjectKeys::yes) {
    log::info(
        "Attention compares keys of width {} that a matrix computes from the encoder states of "
        "width {} (model.attention.project_keys: auto)",
        resolved.decoder.hidden_size, state_size(resolved.encoder));
  }
  const auto report = [](const char* side, const auto& o) {
    if (o.kind != decltype(o.kind)::transformer || o.embedding_dim == o.hidden_size) return;
    log::info("{}: a matrix projects the embeddings of width {} to the width {} of the layers",
              side, o.embedding_dim, o.hidden_size);
  };
  report("model.encoder", resolved.encoder);
  report("model.decoder", resolved.decoder);
}

// Returns `threads`; for 0, this process's share of the processors that it may use.
std::int64_t threads_of(const Options& options, const ProcessGroup& group) {
  if (options.threads > 0) return options.threads;
  return std::max<std::int64_t>(
      1, usable_processors() / static_cast<std::int64_t>(group.local_size()));
}

// Returns what all processes of a group must have in common. Paths and folders may differ. On
// processors with other kernels, the same sums would be rounded differently, and the weights would
// drift apart.
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
  std::string weights;
  for (const auto& [name, tensor] : parameters_of(*setup.model)) {
    const auto values = tensor.detach().cpu().contiguous();
    weights += sha256({static_cast<const char*>(values.data_ptr()),
                       static_cast<std::size_t>(values.numel()) * values.element_size()});
  }
  return {{"version", fmt::format("regard {}, LibTorch {}", version(), TORCH_VERSION)},
          {"configuration", write_options(options)},
          {"text", data},
          {"kind of processor", setup.device.is_cpu() ? std::string(cpu_level_name()) : "GPU"},
          {"vocabulary", fmt::format("{} and {} tokens, sha256 {}", setup.tokenizers.source->size(),
                                     setup.tokenizers.target->size(),
                                     sha256(setup.tokenizers.source->serialized() +
                                            setup.tokenizers.target->serialized()))},
          {"set of weights", "sha256 " + sha256(weights)}};
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
    check(setup.dev->target(i).size(), target_limit, target, i + 1);
  }
}

}  // namespace

std::string parameter_table(const Seq2Seq& model) {
  Table table({{"module"}, {"shapes"}, {"parameters", Align::right}});
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::string, std::int64_t>> modules;
  std::int64_t total = 0;
  for (const auto& [name, tensor] : parameters_of(model)) {
    const auto module = module_of(name);
    if (!modules.contains(module)) order.push_back(module);
    auto& [shapes, count] = modules[module];
    shapes += fmt::format("{}[{}]", shapes.empty() ? "" : " ", fmt::join(tensor.sizes(), "×"));
    count += tensor.numel();
    total += tensor.numel();
  }
  for (const auto& module : order) {
    table.add({module, modules[module].first, format_thousands(modules[module].second)});
  }
  table.add_rule();
  table.add({"all", "", format_thousands(total)});
  return table.text();
}

std::string data_table(const Corpus& train, const Corpus* dev) {
  const bool has_duplicates = train.report().duplicates > 0;
  std::vector<Table::Column> columns = {{"data"},
                                        {"pairs", Align::right},
                                        {"kept", Align::right},
                                        {"empty", Align::right},
                                        {"too long", Align::right},
                                        {"high ratio", Align::right}};
  if (has_duplicates) columns.push_back({"duplicates", Align::right});
  columns.push_back({"source tokens", Align::right});
  columns.push_back({"target tokens", Align::right});
  Table table(columns);
  table.add(data_row("train", train, has_duplicates));
  if (dev != nullptr) table.add(data_row("dev", *dev, has_duplicates));
  return table.text();
}

void roll_back(Setup& setup, const std::filesystem::path& checkpoint) {
  setup.checkpoint.emplace(checkpoint);
  load_weights(*setup.model, read_weights(*setup.checkpoint), checkpoint.string());
}

SubwordSampling sampling_for(const Options& options, const Seq2Seq& model) {
  // One position is for </s>.
  SubwordSampling sampling{.amount = options.data.tokenizer.sampling};
  if (const auto limit = model.source_limit()) sampling.max_source_length = limit->max_tokens - 1;
  if (const auto limit = model.target_limit()) sampling.max_target_length = limit->max_tokens - 1;
  return sampling;
}

TrainingPrecision resolve_precision(TrainingPrecision wanted, torch::Device device,
                                    std::optional<TrainingPrecision> recorded) {
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
  group.set_threads(setup.pool->count());
  torch::manual_seed(static_cast<std::uint64_t>(options.training.random_seed));
  // A GPU trains with one thread; text is always read on all of them.
  std::optional<ThreadPool> cpu_pool;
  if (!setup.device.is_cpu()) {
    cpu_pool.emplace(static_cast<std::size_t>(threads_of(options, group)));
  }
  DataLoader loader(options, options.training.model_dir, cpu_pool ? *cpu_pool : *setup.pool);
  loader.complete(setup.options.data);
  std::optional<InitialModel> initial;
  auto& precision = setup.options.training.precision;
  if (last) {
    setup.checkpoint.emplace(*last);
    const auto before = options_of(*setup.checkpoint);
    if (!init_from.empty()) keep_tokenizers_of(setup.options, before);
    adopt_automatic(setup.options.model, before.model);
    resolve_automatic(setup.options.model);
    compare_with_checkpoint(*setup.checkpoint, before, setup.options);
    precision = resolve_precision(precision, setup.device, before.training.precision);
    setup.tokenizers = read_tokenizers(*setup.checkpoint, setup.options);
    setup.descent = descent_of(*setup.checkpoint);
  } else if (precision = resolve_precision(precision, setup.device); !init_from.empty()) {
    // Its weights only make sense with its vocabulary.
    retry_if_removed([&] {
      initial.emplace(resolve_model(init_from));
      adopt_automatic(setup.options.model, initial->options().model);
      setup.tokenizers = initial->take_tokenizers(setup.options, loader);
    });
    // A model of another kind gives only a part of the weights.
    if (initial->options().model.kind == setup.options.model.kind) {
      setup.descent = initial->descent();
    }
  } else {
    setup.tokenizers = loader.train_tokenizers();
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
