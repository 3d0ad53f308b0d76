#include "training/setup.h"

#include <torch/utils.h>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"
#include "config/writer.h"
#include "metrics/unspaced_text.h"
#include "model/build_model.h"
#include "training/setup_report.h"
#include "translation/device.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {
namespace {

bool names_tokenizer_file(const std::string& difference) {
  return difference.starts_with("data.tokenizer.src_file") ||
         difference.starts_with("data.tokenizer.trg_file");
}

// What a checkpoint has numbers for: its model, its tokenizers, its optimizer's state.
bool is_fixed(const std::string& difference, const TrainingOptions& before,
              const TrainingOptions& now) {
  if (difference.starts_with("model.dropout") ||
      difference.starts_with("data.tokenizer.sampling") || names_tokenizer_file(difference)) {
    return false;
  }
  if (difference.starts_with("training.moving_average")) {
    return (before.moving_average > 0) != (now.moving_average > 0);
  }
  return difference.starts_with("model.") || difference.starts_with("data.tokenizer.") ||
         difference.starts_with("training.optimizer");
}

// Consequences of a learning rate that is this many times the one before deserve a warning.
constexpr double large_increase = 4;

std::string consequence(const std::string& difference, const TrainingOptions& before,
                        const TrainingOptions& now) {
  if (difference.starts_with("training.learning_rate:") && before.learning_rate > 0) {
    const auto ratio = now.learning_rate / before.learning_rate;
    if (ratio < large_increase) return "";
    return fmt::format("; {:.3g} times as high: the loss may rise and not come down again", ratio);
  }
  if (names_tokenizer_file(difference)) return "; the run keeps the tokenizers it has";
  const bool moves_end = difference.starts_with("training.max_steps") ||
                         (difference.starts_with("training.epochs") && before.max_steps == 0);
  if (moves_end && before.scheduling == ScheduleKind::cosine && before.decay_steps == 0) {
    return "; the cosine now ends elsewhere: the learning rate is not that of a run of this length "
           "from its beginning";
  }
  return "";
}

// The checkpoint's own, which may have been edited, or cut short.
Options options_of(const FolderReader& checkpoint) {
  try {
    return read_model_options(checkpoint);
  } catch (const ConfigError& error) {
    throw DamagedError("{}", error.what());
  }
}

// A run goes on with what it has numbers for; the rest may change, and is named.
void compare_with_checkpoint(const FolderReader& checkpoint, const Options& options) {
  const auto before = options_of(checkpoint);
  std::string fixed;
  for (const auto& difference : differing_keys(before, options)) {
    if (is_fixed(difference, before.training, options.training)) {
      fixed += "\n  " + difference;
    } else {
      log::warning("changed since this run last trained: {}{}", difference,
                   consequence(difference, before.training, options.training));
    }
  }
  if (fixed.empty()) return;
  if (!is_sound(checkpoint.path(), /*may_change=*/{})) {
    fixed += "\nIts config.yaml has changed since it was written; --fall-back passes over it.";
  }
  throw CheckpointError(
      "{}: the run was begun otherwise:{}\nTake these back to go on with it, or begin another "
      "run in another training.model_dir (with --init-from for its weights)",
      checkpoint.path().string(), fixed);
}

// Validations score BLEU by 13a.
void warn_of_unspaced_text(const Setup& setup) {
  const bool decides = setup.options.training.early_stopping_metric == Metric::bleu;
  if (!setup.dev || !decides) return;
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < setup.dev->size(); ++i)
    lines.emplace_back(setup.dev->target_text(i));
  const auto script = unspaced_script(lines);
  if (!script) return;
  log::warning(
      "{}: found {}, which has no spaces between words: the BLEU of validations, which chooses the "
      "best checkpoint, takes each clause for a word; set training.early_stopping_metric to chrf",
      setup.options.data.dev.trg, language_of(*script));
}

void load_data(Setup& setup) {
  const auto& data = setup.options.data;
  setup.corpus = Corpus::training(data, setup.tokenizers);
  if (!data.dev.src.empty()) setup.dev = Corpus::validation(data, setup.tokenizers);
  log::info("{}", data_table(*setup.corpus, setup.dev ? &*setup.dev : nullptr));
  warn_of_unspaced_text(setup);
}

// A model to begin from, and the options that it was trained with.
struct FirstModel {
  explicit FirstModel(const std::filesystem::path& path)
      : folder(path), options(read_model_options(folder)) {}

  FolderReader folder;
  Options options;
};

// A line for each option that makes it another model than that of the configuration; dropout makes
// none.
std::string model_differences(const Options& before, const Options& options) {
  std::string lines;
  for (const auto& difference : differing_keys(before, options)) {
    if (!difference.starts_with("model.") || difference.starts_with("model.dropout.")) continue;
    lines += "\n  " + difference;
  }
  return lines;
}

// Those of a model that may be another, as long as they fit.
void take_weights(Setup& setup, const FirstModel& first) {
  const auto weights = read_weights(first.folder);
  const auto where = first.folder.path().string();
  const auto differences = model_differences(first.options, setup.options);
  try {
    load_weights(*setup.model, weights, where);
  } catch (const CheckpointError& error) {
    if (differences.empty()) throw;
    throw CheckpointError("{}\nIts model differs from this configuration's:{}", error.what(),
                          differences);
  }
  log::info("the first weights are those of {}", where);
  if (!differences.empty()) {
    log::warning("{}: the weights fit, but were learnt by another model:{}", where, differences);
  }
}

void make_model(Setup& setup, const FirstModel* first) {
  setup.model = build_model(setup.tokenizers.source->size(), setup.tokenizers.target->size(),
                            setup.options.model);
  if (setup.checkpoint) {
    load_weights(*setup.model, read_weights(*setup.checkpoint), setup.checkpoint->path().string());
  } else if (first != nullptr) {
    take_weights(setup, *first);
  }
  setup.model->to(setup.device);
  log::info("{}", parameter_table(*setup.model));
}

// Training pairs end at data.max_length, which the options are checked for; those of the validation
// may be longer.
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
  const auto& [source, target] = setup.options.data.dev;
  for (std::int64_t i = 0; i < setup.dev->size(); ++i) {  // pair i is line i + 1
    check(setup.dev->source(i).size(), source_limit, source, i + 1);
    check(setup.dev->target(i).size(), target_limit, target, i + 1);
  }
}

// Those of the model to begin from, with their options; how they sample is the new run's to say.
void take_tokenizers(Setup& setup, const FirstModel& first) {
  auto& wanted = setup.options.data.tokenizer;
  auto found = first.options.data.tokenizer;
  found.sampling = wanted.sampling;
  found.src_file = found.trg_file = "";  // of the machine that it was trained on
  Options before = setup.options;
  wanted = found;
  for (const auto& difference : differing_keys(before, setup.options)) {
    log::warning("the tokenizers are those of {}: {}", first.folder.path().string(), difference);
  }
  setup.tokenizers = read_tokenizers(first.folder, setup.options);
}

}  // namespace

void go_back(Setup& setup, const std::filesystem::path& checkpoint) {
  setup.checkpoint.emplace(checkpoint);
  load_weights(*setup.model, read_weights(*setup.checkpoint), checkpoint.string());
}

Sampling sampling_for(const Options& options, const Seq2Seq& model) {
  Sampling sampling{.amount = options.data.tokenizer.sampling};
  if (const auto limit = model.source_limit()) sampling.longest_source = limit->tokens - 1;
  if (const auto limit = model.target_limit()) sampling.longest_target = limit->tokens - 1;
  return sampling;
}

Setup make_setup(const Options& options, const std::optional<std::filesystem::path>& last,
                 const std::string& init_from) {
  Setup setup;
  setup.options = options;
  setup.device = find_device(options.device);
  setup.workers = make_workers(options.threads, setup.device);
  torch::manual_seed(static_cast<std::uint64_t>(options.training.random_seed));
  for (const auto& corpus : options.data.train) check_parallel(corpus.src, corpus.trg);
  if (!options.data.dev.src.empty()) check_parallel(options.data.dev.src, options.data.dev.trg);
  std::optional<FirstModel> first;
  if (last) {
    setup.checkpoint.emplace(*last);
    compare_with_checkpoint(*setup.checkpoint, options);
    setup.tokenizers = read_tokenizers(*setup.checkpoint, options);
  } else if (!init_from.empty()) {  // its weights have meaning for its vocabulary only
    first.emplace(resolve_model(init_from));
    take_tokenizers(setup, *first);
  } else {
    setup.tokenizers = make_tokenizers(options.data, options.model, options.threads);
  }
  load_data(setup);
  make_model(setup, first ? &*first : nullptr);
  check_dev_lengths(setup);
  return setup;
}

}  // namespace regard
