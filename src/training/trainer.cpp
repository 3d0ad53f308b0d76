#include "training/trainer.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "report/format.h"
#include "training/initial_model.h"
#include "training/setup.h"
#include "training/train_step.h"
#include "translation/model_folder.h"

namespace regard {
namespace {

std::optional<std::int64_t> resume_step(const FolderReader* checkpoint) {
  if (checkpoint == nullptr) return std::nullopt;
  return saved_step(*checkpoint);
}

// Sets the end of a cosine schedule to the end of the last epoch, if no other end is configured.
// Assumes that all epochs have as many batches as the first; corpus weights can change their number
// slightly.
TrainingOptions with_decay_steps(TrainingOptions options, BatchSampler& batches) {
  if (options.scheduling == ScheduleKind::cosine && options.decay_steps == 0 &&
      options.max_steps == 0) {
    options.decay_steps = options.epochs * updates_in_epoch(options, batches.count(0));
  }
  return options;
}

// Returns the SHA-256 of the values.
std::string digest_of(const NamedTensors& tensors) {
  Sha256 hash;
  for (const auto& [name, tensor] : tensors) {
    const auto values = tensor.detach().cpu().contiguous();
    hash.update({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  }
  return hash.hex_digest();
}

}  // namespace

Trainer::Trainer(const Options& options, RunFolder& run, const Corpus& corpus,
                 std::shared_ptr<Seq2Seq> model, Validator* validator, torch::Device device,
                 ThreadPool& pool, const FolderReader* resume_from, ProcessGroup& group,
                 std::string descent)
    : options_(options),
      run_(run),
      corpus_(corpus),
      model_(std::move(model)),
      validator_(validator),
      device_(device),
      pool_(pool),
      group_(group),
      trained_(model_, options.training),
      batches_(corpus, {options.training.batch_size, options.training.batch_type},
               static_cast<std::uint64_t>(options.training.random_seed),
               sampling_for(options, *model_), SourceNoise(options)),
      schedule_(with_decay_steps(options.training, batches_)),
      early_stopping_(options.training),
      log_(options.training, run.path().string(), validator != nullptr, resume_step(resume_from)),
      descent_(std::move(descent)) {
  if (descent_.empty() && group_.is_first()) descent_ = digest_of(trained_.weights.views());
  if (group_.is_alone() && StepGraphs::fit(device, options)) {
    graphs_.emplace(device, options.training, trained_.weights.flat().numel());
  }
  if (options.training.objective == Objective::minimum_risk) {
    minimum_risk_.emplace(options, corpus.tokenizers());
  }
  std::optional<std::int64_t> validated;  // for a resumed run: 0 or the step of its last validation
  if (resume_from != nullptr) {
    read_state(*resume_from, state());
    initial_model_ = initial_model_of(*resume_from);
    last_checkpoint_step_ = position_.step;
    if (!validator_) pending_validation_ = false;
    link_best();
    const auto& history = early_stopping_.history();
    if (!history.empty()) last_validated_step_ = history.back().first;
    validated = std::max<std::int64_t>(0, last_validated_step_);
  }
  if (validator_) validations_.emplace(run, validated);
}

ResumableState Trainer::state() {
  return {position_,
          pending_validation_,
          schedule_,
          early_stopping_,
          log_,
          *trained_.optimizer,
          trained_.average ? &*trained_.average : nullptr,
          trained_.weights.views(),
          device_};
}

std::optional<StopReason> Trainer::reason_to_stop() const {
  const auto& o = options_.training;
  if (o.max_steps > 0 && position_.step >= o.max_steps) {
    return StopReason{fmt::format("training.max_steps reached ({})", o.max_steps)};
  }
  if (o.epochs > 0 && position_.epoch >= o.epochs) {
    return StopReason{fmt::format("training.epochs reached ({})", o.epochs)};
  }
  if (early_stopping_.out_of_patience()) {
    return StopReason{fmt::format("no better {} in {} (training.patience)",
                                  enum_name(o.early_stopping_metric),
                                  counted(o.patience, "validation"))};
  }
  if (schedule_.exhausted()) {
    return StopReason{
        fmt::format("learning rate reached training.learning_rate_min ({})", o.learning_rate_min)};
  }
  return std::nullopt;
}

StopReason Trainer::run(const SignalCatcher& signals) {
  model_->train();
  try {
    return run_to_end(signals);
  } catch (const Error&) {
    run_.check_not_moved();  // throws a clearer error if the folder was moved
    throw;
  }
}

// Before it stops at its end, a run validates and saves the last step if that has not been done.
StopReason Trainer::run_to_end(const SignalCatcher& signals) {
  const bool is_new = last_checkpoint_step_ < 0;
  if (is_new && !initial_model_.empty() && !pending_validation_) save();
  for (;;) {
    run_.check_not_moved();
    if (pending_validation_) {
      save_and_validate(signals);
    } else if (const auto reason = reason_to_stop()) {
      if (!validator_ || last_validated_step_ == position_.step) {
        if (last_checkpoint_step_ != position_.step) save();
        return *reason;
      }
      pending_validation_ = true;
    } else {
      update(signals);
      finish_log();
      pending_validation_ = validation_is_due();
      if (!pending_validation_ && save_is_due()) save();
    }
    if (const auto reason = handle_signals(signals)) return *reason;
  }
}

void Trainer::finish_log() {
  if (reason_to_stop()) log_.write_entry(position_, batches_.count(position_.epoch));
}

std::optional<StopReason> Trainer::handle_signals(const SignalCatcher& signals) {
  const int signal = group_.is_alone() ? signals.stop_signal() : agreed_stop_;
  if (signal != 0 && last_checkpoint_step_ != position_.step) save();
  handle_save_request(signals);
  if (signal == 0) return std::nullopt;
  return StopReason{signal == SIGINT    ? "interrupted (SIGINT)"
                    : signal == SIGTERM ? "terminated (SIGTERM)"
                                        : "terminal closed (SIGHUP)",
                    signal};
}

void Trainer::handle_save_request(const SignalCatcher& signals) {
  if (!(group_.is_alone() ? signals.take_save_request() : std::exchange(agreed_save_, false))) {
    return;
  }
  if (last_checkpoint_step_ != position_.step) save();
  if (!group_.is_first()) return;  // has no checkpoint of its own
  log::info("saved at step {} (SIGUSR1): {}", position_.step, run_.last()->string());
}

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};

std::vector<double> Trainer::received(const SignalCatcher& signals) {
  if (group_.is_alone()) return {};
  std::vector<double> counts;
  for (const int signal : stop_signals) counts.push_back(signals.stop_signal() == signal ? 1 : 0);
  counts.push_back(signals.take_save_request() ? 1 : 0);
  return counts;
}

void Trainer::agree(const std::vector<double>& sums) {
  if (group_.is_alone()) return;
  agreed_stop_ = 0;
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    if (agreed_stop_ == 0 && sums[i] > 0) agreed_stop_ = stop_signals[i];
  }
  agreed_save_ = sums.back() > 0;
}

void Trainer::update(const SignalCatcher& signals) {
  const auto start = std::chrono::steady_clock::now();
  const auto batches_in_epoch = batches_.count(position_.epoch);
  auto batches = std::exchange(ahead_, {});
  if (batches.empty()) batches = batches_of_next_update();
  position_.batch += static_cast<std::int64_t>(batches.size());
  if (batches.empty()) {  // corpus weights below 1 can leave an epoch without a pair
    position_.begin_epoch();
    return;
  }
  last_pairs_.clear();
  for (const auto& batch : batches) {
    last_pairs_.insert(last_pairs_.end(), batch.indices.begin(), batch.indices.end());
  }
  const auto learning_rate = schedule_.rate(position_.step + 1);
  auto result = step(batches, learning_rate, received(signals));
  agree(result.counts);
  const bool ends_epoch = position_.batch >= batches_in_epoch;
  if (!std::isfinite(result.nll) || !std::isfinite(result.gradient_norm)) {
    if (ends_epoch) position_.begin_epoch();
    return skip_update(result, learning_rate);
  }
  position_.skipped_in_a_row = 0;
  ++position_.step;
  position_.update_mean_log_p(-result.nll / static_cast<double>(result.target_tokens));
  if (options_.model.kind == ModelKind::language_model) result.source_tokens = 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  log_.add_step(position_, result, learning_rate, seconds.count(), batches_in_epoch);
  if (ends_epoch) position_.begin_epoch();
}

std::vector<Batch> Trainer::batches_of_next_update() {
  const auto end = std::min(batches_.count(position_.epoch),
                            position_.batch + options_.training.gradient_accumulation);
  std::vector<Batch> batches;
  for (auto i = position_.batch; i < end; ++i) {
    const auto batch = batches_.batch(position_.epoch, i);
    batches.push_back(graphs_             ? graphs_->to_device(batch)
                      : group_.is_alone() ? batch.to(device_)
                                          : batch);
  }
  return batches;
}

StepResult Trainer::step(std::vector<Batch>& batches, double learning_rate,
                         const std::vector<double>& counts) {
  for (;;) {
    try {
      return train_step(trained_, batches,
                        {.step = position_.step + 1,
                         .learning_rate = learning_rate,
                         .mean_log_p = position_.mean_log_p,
                         .counts = counts,
                         .minimum_risk = minimum_risk_ ? &*minimum_risk_ : nullptr,
                         .graphs = graphs_ ? &*graphs_ : nullptr},
                        options_.training, pool_, group_, [&] {
                          const bool waits = !device_.is_cpu() && ahead_.empty();
                          if (waits) ahead_ = batches_of_next_update();
                        });
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error) || trained_.is_updating) throw;
      if (graphs_ && graphs_->release()) continue;  // with their memory, it may suffice
      const auto sentences = batches.front().size();
      if (!halve_batches(batches)) {
        throw EnvironmentError(
            "step {}: not enough memory for a single pair ({}); lower data.max_length, or make the "
            "model smaller",
            position_.step + 1, corpus_.source_locations(last_pairs_));
      }
      log::warning(
          "step {}: not enough memory for {} sentences at once; processing them in halves. Halve "
          "training.batch_size and double training.gradient_accumulation for the same updates",
          position_.step + 1, sentences);
    }
  }
}

void Trainer::roll_back(const Rollbacks& before) {
  auto schedule = schedule_.state();
  schedule.rollbacks = before.count + 1;
  schedule_.set_state(schedule);
  position_.skipped = before.skipped;
}

void Trainer::skip_update(const StepResult& result, double learning_rate) {
  ++position_.skipped;
  const auto what =
      fmt::format("step {}: the {} is not a finite number (learning rate {})", position_.step + 1,
                  std::isfinite(result.nll) ? "gradient" : "loss", format_rate(learning_rate));
  if (++position_.skipped_in_a_row < max_skipped) {
    log::warning("{}; skipped the batch of {}", what, corpus_.source_locations(last_pairs_));
    return;
  }
  throw diverged(fmt::format("{}, {} times in a row; nothing was updated", what, max_skipped));
}

DivergedError Trainer::diverged(const std::string& what) const {
  const auto places = corpus_.source_locations(last_pairs_);
  return DivergedError("{}. Try {}.{}", what, advice_against_divergence(options_.training),
                       places.empty() ? "" : " The last batch consists of " + places);
}

// An epoch without pairs ends at the same step as the epoch before it, which has been validated.
bool Trainer::validation_is_due() const {
  if (!validator_ || position_.step == 0 || last_validated_step_ == position_.step) return false;
  const auto every = options_.training.validation_every;
  if (options_.training.validation_unit == ValidationUnit::steps) {
    return position_.step % every == 0;
  }
  return position_.batch == 0 && position_.epoch % every == 0;
}

bool Trainer::save_is_due() const {
  const auto every = options_.training.save_every;
  return every > 0 && position_.step > 0 && position_.step % every == 0 &&
         last_checkpoint_step_ != position_.step;
}

void Trainer::save_and_validate(const SignalCatcher& signals) {
  if (last_checkpoint_step_ != position_.step) save();
  std::optional<Validation> validation;
  {
    const AveragedWeights averaged(trained_.average ? &*trained_.average : nullptr);
    validation = validator_->validate(model_, {[&] { return signals.stop_signal() != 0; },
                                               [&] {
                                                 if (group_.is_alone())
                                                   handle_save_request(signals);
                                               }});
  }
  agree(group_.sum(received(signals)));
  if (!validation) return;  // a signal ended it
  record(*validation);
  pending_validation_ = false;
  finish_log();
  save();
}

void Trainer::record(const Validation& validation) {
  run_.check_not_moved();
  last_validated_step_ = position_.step;
  log_.add_seconds(validation.seconds);
  const bool is_best = early_stopping_.add_validation(position_.step, validation.scores);
  schedule_.validated(is_best);
  validations_->add(validation, position_, schedule_.rate(position_.step), log_.seconds(), is_best);
  log_.add_validation(position_.step, validation.scores);
  log_examples(*validator_, validation.translations, options_.training.show_examples);
}

// Restores the `best` link if an earlier run was interrupted before setting it.
void Trainer::link_best() {
  const auto best = early_stopping_.best_step();
  if (!best || !is_checkpoint(run_.checkpoint(*best))) return;
  if (!run_.is_best(*best)) run_.set_best(*best);
}

// A checkpoint that is saved before a validation only becomes `last`. The save after the validation
// sets `best` and removes old checkpoints.
void Trainer::save() {
  run_.check_not_moved();
  if (!group_.is_first()) {
    check_weights();
    last_checkpoint_step_ = last_written_step_ = position_.step;
    return;
  }
  try {
    write_checkpoint();
    run_.set_last(position_.step);
    last_checkpoint_step_ = last_written_step_ = position_.step;
    if (pending_validation_) return;
    link_best();
  } catch (const CheckpointError& error) {  // a folder under way to its deletion
    throw EnvironmentError("{}; it was changed, moved or deleted while it was saved", error.what());
  }
  run_.prune(static_cast<std::size_t>(options_.training.keep_newest),
             static_cast<std::size_t>(options_.training.keep_best),
             ranking(options_.training.early_stopping_metric, early_stopping_.history()));
}

void Trainer::check_weights() const {
  if (is_finite(trained_.weights.flat()) &&
      (!trained_.average || is_finite(trained_.average->flat()))) {
    return;
  }
  throw diverged(
      fmt::format("step {}: weights are not finite; they are not saved", position_.step));
}

void Trainer::write_checkpoint() {
  run_.make_checkpoints_folder();
  FolderWriter folder(run_.checkpoint(position_.step));
  folder.require_parent();                     // fails if the run folder was moved
  if (last_written_step_ == position_.step) {  // only a validation happened since
    folder.keep_other_files();
    add_numbers(folder, state());
  } else {
    check_weights();
    add_model(folder, options_, corpus_.tokenizers(),
              trained_.average ? trained_.average->averages() : trained_.weights.views());
    add_state(folder, state());
  }
  Json info = {{"step", position_.step}, {"epoch", position_.current_epoch()}};
  if (!initial_model_.empty()) info[initial_model_key] = initial_model_;
  info[descent_key] = descent_;
  folder.commit(info);
}

}  // namespace regard
