#include "training/checkpoints.h"

#include "base/error.h"
#include "training/initial_model.h"
#include "translation/model_folder.h"

namespace regard {

Checkpoints::Checkpoints(RunFolder& run, const Options& options, const TextCodec& codec,
                         std::optional<std::int64_t> resumed, bool writes)
    : run_(run), options_(options), codec_(codec), writes_(writes) {
  if (resumed) last_ = {.step = *resumed, .is_own = false};
}

bool Checkpoints::is_due(std::int64_t step) const {
  const auto every = options_.training.save_every;
  return every > 0 && step > 0 && step % every == 0 && !has(step);
}

void Checkpoints::save(const ResumableState& state, const TrainedModel& trained) {
  const Saved saved = {.step = state.position.step, .is_own = true};
  if (!writes_) {
    last_ = saved;
    return;
  }
  try {
    write(state, trained);
    run_.set_last(saved.step);
    last_ = saved;
    if (state.pending_validation) return;
    link_best(state.early_stopping);
  } catch (const CheckpointError& error) {  // a folder under way to its deletion
    throw EnvironmentError("{}; it was changed, moved or deleted while it was saved", error.what());
  }
  const auto& o = options_.training;
  run_.prune(static_cast<std::size_t>(o.keep_newest), static_cast<std::size_t>(o.keep_best),
             ranking(o.early_stopping_metric, state.early_stopping.history()));
}

void Checkpoints::link_best(const EarlyStopping& early_stopping) {
  const auto best = early_stopping.best_step();
  if (!best || !is_checkpoint(run_.checkpoint(*best))) return;
  if (!run_.is_best(*best)) run_.set_best(*best);
}

void Checkpoints::write(const ResumableState& state, const TrainedModel& trained) {
  const auto step = state.position.step;
  run_.make_checkpoints_folder();
  FolderWriter folder(run_.checkpoint(step));
  folder.require_parent();  // fails if the run folder was moved
  if (wrote(step)) {        // only a validation happened since
    folder.keep_other_files();
    add_numbers(folder, state);
  } else {
    add_model(folder, options_, codec_,
              trained.average ? trained.average->averages() : trained.weights.views());
    add_state(folder, state);
  }
  Json info = {{"step", step}, {"epoch", state.position.current_epoch()}};
  if (!initial_model.empty()) info[initial_model_key] = initial_model;
  info[descent_key] = descent;
  folder.commit(info);
}

}  // namespace regard
