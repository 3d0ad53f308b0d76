#include "training/changed_options.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"
#include "config/writer.h"

namespace regard {
namespace {

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
  const auto is_file = difference.key.ends_with(".src") || difference.key.ends_with(".trg");
  if (difference.is_at("data.train") && is_file) {
    return "; the vocabularies stay those of the first text; --fresh starts over";
  }
  if (difference.is_at("data.dev") && is_file) {
    return "; the scores before cannot be compared with those of another text";
  }
  const bool changes_length = difference.is_at("training.max_steps") ||
                              (difference.is_at("training.epochs") && before.max_steps == 0);
  if (changes_length && before.scheduling == ScheduleKind::cosine && before.decay_steps == 0) {
    return "; the cosine schedule now ends at another step: the learning rates differ from those "
           "of a run that had this length from the start";
  }
  return "";
}

}  // namespace

void compare_with_checkpoint(const FolderReader& checkpoint, const Options& before,
                             Options options) {
  if (options.training.precision == TrainingPrecision::automatic) {
    options.training.precision = before.training.precision;
  }
  std::vector<Difference> fixed;
  for (const auto& difference : option_differences(before, options)) {
    if (is_fixed(difference, before.training, options.training)) {
      fixed.push_back(difference);
    } else {
      log::warning("changed since this run last trained: {}{}", difference.text(),
                   consequence(difference, before.training, options.training));
    }
  }
  if (fixed.empty()) return;
  const auto is_edited = !is_intact(checkpoint.path(), /*may_change=*/{});
  throw CheckpointError(
      "{}: the run started with other options:{}{}\nRestore these to continue it, or start another "
      "run in another training.model_dir (with --init-from for its weights)",
      checkpoint.path().string(), differences_text(fixed),
      is_edited ? "\nIts config.yaml has changed since it was written; --fall-back skips this "
                  "checkpoint."
                : "");
}

}  // namespace regard
