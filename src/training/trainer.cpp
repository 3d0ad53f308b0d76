#include "training/trainer.h"

#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strings.h"
#include "report/format.h"
#include "training/initial_model.h"
#include "training/train_step.h"

namespace regard {
namespace {

std::optional<std::int64_t> resumed_step(const Setup& setup) {
  if (!setup.checkpoint) return std::nullopt;
  return saved_step(*setup.checkpoint);
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

}  // namespace

Trainer::Trainer(Setup& setup, RunFolder& run, Validator* validator, ProcessGroup& group)
    : setup_(setup),
      options_(setup.options),
      run_(run),
      validator_(validator),
      group_(group),
      trained_(setup.model, options_.training),
      batches_(make_sampler(setup)),
      schedule_(with_decay_steps(options_.training, batches_)),
      early_stopping_(options_.training),
      log_(options_.training, run.path().string(), validator != nullptr, resumed_step(setup)),
      checkpoints_(run, options_, setup.codec, resumed_step(setup), group.is_first()) {
  checkpoints_.descent = setup.descent;
  if (setup.descent.empty() && group.is_first()) {
    checkpoints_.descent = digest_of(trained_.weights.views());
  }
  if (group.is_alone() && StepGraphs::can_capture(setup.device, options_)) {
    graphs_.emplace(setup.device, options_.training, *setup.model);
  }
  if (options_.training.objective == Objective::minimum_risk) {
    minimum_risk_.emplace(options_, setup.corpus->codec());
  }
  std::optional<std::int64_t> validated;  // for a resumed run: 0 or the step of its last validation
  if (setup.checkpoint) {
    read_state(*setup.checkpoint, state());
    checkpoints_.initial_model = initial_model_of(*setup.checkpoint);
    if (!validator_) pending_validation_ = false;
    checkpoints_.link_best(early_stopping_);
    time_is_up_ = own_time_is_up();
    const auto& history = early_stopping_.history();
    if (!history.empty()) validated_step_ = history.back().first;
    validated = validated_step_.value_or(0);
  }
  if (validator_)
    validations_.emplace(run, *validator_, options_.training.early_stopping_metric, validated);
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
          setup_.device};
}

std::optional<StopReason> Trainer::reason_to_stop() const {
  const auto& o = options_.training;
  if (o.max_steps > 0 && position_.step >= o.max_steps) {
    return StopReason{fmt::format("training.max_steps reached ({})", o.max_steps)};
  }
  if (o.epochs > 0 && position_.epoch >= o.epochs) {
    return StopReason{fmt::format("training.epochs reached ({})", o.epochs)};
  }
  if (time_is_up_) {
    return StopReason{fmt::format("training.max_minutes reached ({})", o.max_minutes)};
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

StopReason Trainer::run(const SignalCatcher& own) {
  setup_.model->train();
  SharedSignals signals(own);
  try {
    return run_to_end(signals);
  } catch (const Error&) {
    run_.check_not_moved();  // throws a clearer error if the folder was moved
    throw;
  }
}

// Before it stops at its end, a run validates and saves the last step if that has not been done.
StopReason Trainer::run_to_end(SharedSignals& signals) {
  const bool has_initial_model = checkpoints_.is_new() && !checkpoints_.initial_model.empty();
  if (has_initial_model && !pending_validation_) save();
  for (;;) {
    run_.check_not_moved();
    if (pending_validation_) {
      save_and_validate(signals);
    } else if (const auto reason = reason_to_stop()) {
      if (!validator_ || validated_step_ == position_.step) {
        if (!checkpoints_.has(position_.step)) save();
        return *reason;
      }
      pending_validation_ = true;
    } else {
      update(signals);
      finish_log();
      pending_validation_ = validation_is_due();
      if (!pending_validation_ && checkpoints_.is_due(position_.step)) save();
    }
    if (const auto reason = handle_signals(signals)) return *reason;
  }
}

void Trainer::finish_log() {
  if (reason_to_stop()) log_.write_entry(position_, batches_.count(position_.epoch));
}

std::optional<StopReason> Trainer::handle_signals(SharedSignals& signals) {
  int signal = signals.stop_signal();
  if (signal == 0 && group_.is_alone()) signal = signals.own_stop_signal();
  const bool is_requested = signals.take_save_request();
  if ((signal != 0 || is_requested) && !checkpoints_.has(position_.step)) save();
  if (is_requested && group_.is_first()) {
    log::info("saved at step {} (SIGUSR1): {}", position_.step, run_.last()->string());
  }
  if (signal == 0) return std::nullopt;
  return StopReason{signal == SIGINT    ? "interrupted (SIGINT)"
                    : signal == SIGTERM ? "terminated (SIGTERM)"
                                        : "terminal closed (SIGHUP)",
                    signal};
}

void Trainer::update(SharedSignals& signals) {
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
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto received = [&] { return signals.received(own_time_is_up(seconds())); };
  auto result = step(batches, learning_rate, received);
  signals.agree(result.counts);
  const bool ends_epoch = position_.batch >= batches_in_epoch;
  if (!std::isfinite(result.nll) || !std::isfinite(result.gradient_norm)) {
    if (ends_epoch) position_.begin_epoch();
    return skip_update(result, learning_rate);
  }
  position_.skipped_in_a_row = 0;
  ++position_.step;
  position_.update_mean_log_p(-result.nll / static_cast<double>(result.target_tokens));
  if (options_.model.kind == ModelKind::language_model) result.source_tokens = 0;
  log_.add_step(position_, result, learning_rate, seconds(), batches_in_epoch);
  time_is_up_ = signals.time_is_up();
  if (ends_epoch) position_.begin_epoch();
}

std::vector<Batch> Trainer::batches_of_next_update() {
  const auto end = std::min(batches_.count(position_.epoch),
                            position_.batch + options_.training.gradient_accumulation);
  std::vector<Batch> batches;
  for (auto i = position_.batch; i < end; ++i) {
    const auto batch = batches_.batch(position_.epoch, i);
    batches.push_back(graphs_             ? graphs_->to_device(batch)
                      : group_.is_alone() ? batch.to(setup_.device)
                                          : batch);
  }
  return batches;
}

StepResult Trainer::step(std::vector<Batch>& batches, double learning_rate,
                         const std::function<std::vector<double>()>& counts) {
  for (;;) {
    try {
      return train_step(trained_, batches,
                        {.step = position_.step + 1,
                         .learning_rate = learning_rate,
                         .mean_log_p = position_.mean_log_p,
                         .counts = counts,
                         .minimum_risk = minimum_risk_ ? &*minimum_risk_ : nullptr,
                         .graphs = graphs_ ? &*graphs_ : nullptr},
                        options_.training, *setup_.pool, group_, [&] {
                          const bool waits = !setup_.device.is_cpu() && ahead_.empty();
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
            position_.step + 1, setup_.corpus->source_locations(last_pairs_));
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
    log::warning("{}; skipped the batch of {}", what, setup_.corpus->source_locations(last_pairs_));
    return;
  }
  throw diverged(fmt::format("{}, {} times in a row; nothing was updated", what, max_skipped));
}

DivergedError Trainer::diverged(const std::string& what) const {
  const auto places = setup_.corpus->source_locations(last_pairs_);
  return DivergedError("{}. Try {}.{}", what, advice_against_divergence(options_.training),
                       places.empty() ? "" : " The last batch consists of " + places);
}

// An epoch without pairs ends at the same step as the epoch before it, which has been validated.
bool Trainer::validation_is_due() const {
  if (!validator_ || position_.step == 0 || validated_step_ == position_.step) return false;
  const auto every = options_.training.validation_every;
  if (options_.training.validation_unit == ValidationUnit::steps) {
    return position_.step % every == 0;
  }
  return position_.batch == 0 && position_.epoch % every == 0;
}

bool Trainer::own_time_is_up(double more_seconds) const {
  const auto minutes = options_.training.max_minutes;
  return minutes > 0 && log_.seconds() + more_seconds >= 60 * minutes;
}

void Trainer::save_and_validate(SharedSignals& signals) {
  if (!checkpoints_.has(position_.step)) save();
  std::optional<Validation> validation;
  {
    const AveragedWeights averaged(trained_.average ? &*trained_.average : nullptr);
    const auto is_stopped = [&] { return signals.own_stop_signal() != 0; };
    validation = validator_->validate(setup_.model, is_stopped);
  }
  const bool is_up = own_time_is_up(validation ? validation->seconds : 0);
  signals.agree(group_.sum(signals.received(is_up)));
  if (!validation) return;  // a signal ended it
  record(*validation);
  time_is_up_ = signals.time_is_up();
  pending_validation_ = false;
  finish_log();
  save();
}

void Trainer::record(const Validation& validation) {
  run_.check_not_moved();
  validated_step_ = position_.step;
  log_.add_seconds(validation.seconds);
  const bool is_best = early_stopping_.add_validation(position_.step, validation.scores);
  schedule_.validated(is_best);
  validations_->add(validation, position_, schedule_.rate(position_.step), log_.seconds(), is_best);
  log_.add_validation(position_.step, validation.scores);
  log_examples(*validator_, validation.translations, options_.training.show_examples);
}

void Trainer::save() {
  run_.check_not_moved();
  const bool is_sound = is_finite(trained_.weights.flat()) &&
                        (!trained_.average || is_finite(trained_.average->flat()));
  if (!checkpoints_.wrote(position_.step) && !is_sound) {
    throw diverged(
        fmt::format("step {}: weights are not finite; they are not saved", position_.step));
  }
  checkpoints_.save(state(), trained_);
}

}  // namespace regard
