// When and where a training saves. What it saves is the trainer's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/run_folder.h"
#include "config/options.h"
#include "data/text_codec.h"
#include "training/resumable_state.h"
#include "training/train_step.h"

namespace regard {

class Checkpoints {
 public:
  // `resumed`: the step of the checkpoint from which the run resumes. `writes` is false in
  // processes that train with the first one, which alone saves. All references must outlive this
  // object.
  Checkpoints(RunFolder& run, const Options& options, const TextCodec& codec,
              std::optional<std::int64_t> resumed, bool writes);

  // The model from whose weights the run started, and its descent (initial_model.h), which each
  // checkpoint names.
  std::string initial_model;
  std::string descent;

  // True if the run has no checkpoint yet.
  bool is_new() const { return !last_; }
  // True if the state of this step is saved.
  bool has(std::int64_t step) const { return last_ && last_->step == step; }
  // True if this object saved it, so that the tensors are those of the checkpoint.
  bool wrote(std::int64_t step) const { return has(step) && last_->is_own; }
  // True if training.save_every wants the state of this step to be saved, and it is not.
  bool is_due(std::int64_t step) const;

  // Saves the state. Before a validation the checkpoint only becomes `last`; after it, `best` is
  // set and old checkpoints are removed. The weights must be finite. Throws EnvironmentError if the
  // folder was changed while it was saved.
  void save(const ResumableState& state, const TrainedModel& trained);
  // Restores the `best` link if an earlier run was interrupted before setting it.
  void link_best(const EarlyStopping& early_stopping);

 private:
  void write(const ResumableState& state, const TrainedModel& trained);

  struct Saved {
    std::int64_t step = 0;
    bool is_own = false;  // this object wrote it
  };
  RunFolder& run_;
  const Options& options_;
  const TextCodec& codec_;
  std::optional<Saved> last_;
  bool writes_;
};

}  // namespace regard
