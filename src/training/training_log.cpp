#include "training/training_log.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/process.h"
#include "report/format.h"

namespace regard {

TrainingLog::TrainingLog(const TrainingOptions& options, const std::string& folder, bool validates,
                         std::optional<std::int64_t> resume_step)
    : options_(options), validates_(validates), train_log_(folder + "/train.jsonl", resume_step) {
  if (options.tensorboard) events_.emplace(folder, resume_step);
}

void TrainingLog::add_step(const TrainingPosition& position, const StepResult& result,
                           double learning_rate, double seconds, std::int64_t batches_in_epoch) {
  seconds_ += seconds;
  seconds_this_session_ += seconds;
  ++steps_this_session_;
  nll_ += result.nll;
  risk_ += result.risk;
  interval_seconds_ += seconds;
  sentences_ += result.sentences;
  source_tokens_ += result.source_tokens;
  target_tokens_ += result.target_tokens;
  gradient_norm_ = result.gradient_norm;
  learning_rate_ = learning_rate;
  if (position.step % options_.logging_every != 0) {
    if (reporter_.wants_update()) reporter_.update(progress(position, batches_in_epoch));
    return;
  }
  write_entry(position, batches_in_epoch);
}

void TrainingLog::write_entry(const TrainingPosition& position, std::int64_t batches_in_epoch) {
  if (target_tokens_ == 0) return;
  const auto now = progress(position, batches_in_epoch);
  report(now);
  warn_if_loss_rises(now);
  nll_ = risk_ = interval_seconds_ = 0;
  sentences_ = source_tokens_ = target_tokens_ = 0;
}

std::string advice_against_divergence(const TrainingOptions& options) {
  return fmt::format("a lower training.learning_rate, a longer training.warmup_steps or {}",
                     options.clip_grad_norm > 0 ? "a lower training.clip_grad_norm"
                                                : "training.clip_grad_norm (it is off)");
}

bool is_rising_loss(double lowest, double now) {
  return now > 2 * lowest && now > lowest + 1;
}

void TrainingLog::warn_if_loss_rises(const TrainingProgress& now) {
  if (lowest_loss_step_ == 0 || now.loss < lowest_loss_) {
    lowest_loss_ = now.loss;
    lowest_loss_step_ = now.step;
  }
  if (!is_rising_loss(lowest_loss_, now.loss)) {
    warned_of_rise_ = false;
  } else if (!std::exchange(warned_of_rise_, true)) {
    log::warning(
        "step {}: the loss has risen from {:.2f} (step {}) to {:.2f} at learning rate {}; the "
        "training diverges. Try {}",
        now.step, lowest_loss_, lowest_loss_step_, now.loss, format_rate(now.learning_rate),
        advice_against_divergence(options_));
  }
}

void TrainingLog::report(const TrainingProgress& now) {
  const auto number_or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  reporter_.report(now);
  Json entry = {{"step", now.step},
                {"epoch", now.epoch},
                {"loss", now.loss},
                {"perplexity", now.perplexity},
                {"learning_rate", now.learning_rate},
                {"gradient_norm", now.gradient_norm},
                {"source_tokens_per_second", now.source_tokens_per_second},
                {"target_tokens_per_second", now.target_tokens_per_second},
                {"peak_memory", now.peak_memory_bytes},
                {"seconds", now.seconds_elapsed},
                {"seconds_left", number_or_null(now.seconds_left)},
                {"seconds_to_validation", number_or_null(now.seconds_to_validation)}};
  if (now.risk) entry["risk"] = *now.risk;
  train_log_.append(entry);
  if (!events_) return;
  if (now.risk) events_->add(now.step, {{"train/risk", *now.risk}});
  events_->add(now.step, {{"train/loss", now.loss},
                          {"train/perplexity", now.perplexity},
                          {"train/learning_rate", now.learning_rate},
                          {"train/gradient_norm", now.gradient_norm},
                          {"train/source_tokens_per_second", now.source_tokens_per_second},
                          {"train/target_tokens_per_second", now.target_tokens_per_second},
                          {"train/epoch", static_cast<double>(now.epoch)},
                          {"train/peak_memory", static_cast<double>(now.peak_memory_bytes)}});
}

void TrainingLog::add_validation(std::int64_t step, const Scores& scores) {
  if (!events_) return;
  events_->add(step,
               {{"validation/loss", scores.loss}, {"validation/perplexity", scores.perplexity}});
  if (std::isnan(scores.bleu)) return;  // the model does not translate
  events_->add(step, {{"validation/bleu", scores.bleu}, {"validation/chrf", scores.chrf}});
  if (const auto metric = options_.early_stopping_metric; is_optional(metric)) {
    events_->add(step,
                 {{fmt::format("validation/{}", enum_name(metric)), score_at(scores, metric)}});
  }
}

TrainingProgress TrainingLog::progress(const TrainingPosition& position,
                                       std::int64_t batches_in_epoch) const {
  const auto& o = options_;
  TrainingProgress progress;
  progress.step = position.step;
  progress.epoch = position.current_epoch();
  if (o.epochs > 0) progress.total_epochs = o.epochs;
  progress.total_steps = last_step(o, batches_in_epoch);
  const auto tokens = static_cast<double>(std::max<std::int64_t>(1, target_tokens_));
  progress.loss = nll_ / tokens;
  progress.perplexity = std::exp(progress.loss);
  if (o.objective == Objective::minimum_risk) {
    progress.risk = risk_ / static_cast<double>(std::max<std::int64_t>(1, sentences_));
  }
  progress.learning_rate = learning_rate_;
  progress.gradient_norm = gradient_norm_;
  if (interval_seconds_ > 0) {
    progress.source_tokens_per_second = static_cast<double>(source_tokens_) / interval_seconds_;
    progress.target_tokens_per_second = static_cast<double>(target_tokens_) / interval_seconds_;
  }
  progress.peak_memory_bytes = peak_memory();
  progress.seconds_elapsed = seconds_;

  const auto seconds_per_step =
      seconds_this_session_ / static_cast<double>(std::max<std::int64_t>(1, steps_this_session_));
  if (progress.total_steps) {
    progress.seconds_left = seconds_per_step * static_cast<double>(std::max<std::int64_t>(
                                                   0, *progress.total_steps - position.step));
  }
  if (o.max_minutes > 0) {
    const auto left = std::max(0.0, 60 * o.max_minutes - seconds_);
    progress.seconds_left = std::min(left, progress.seconds_left.value_or(left));
  }
  if (!validates_) return progress;
  const auto every = o.validation_unit == ValidationUnit::steps
                         ? o.validation_every
                         : o.validation_every * updates_in_epoch(o, batches_in_epoch);
  progress.seconds_to_validation =
      seconds_per_step * static_cast<double>(every - position.step % every);
  if (progress.seconds_left) {  // a validation follows the last step
    progress.seconds_to_validation =
        std::min(*progress.seconds_to_validation, *progress.seconds_left);
  }
  return progress;
}

Json TrainingLog::state() const {
  Json state = {{"seconds", seconds_},
                {"nll", nll_},
                {"interval_seconds", interval_seconds_},
                {"source_tokens", source_tokens_},
                {"target_tokens", target_tokens_},
                {"lowest_loss", lowest_loss_},
                {"lowest_loss_step", lowest_loss_step_}};
  if (options_.objective == Objective::minimum_risk) {
    state["risk"] = risk_;
    state["sentences"] = sentences_;
  }
  return state;
}

void TrainingLog::set_state(const Json& state) {
  seconds_ = state.at("seconds");
  nll_ = state.at("nll");
  interval_seconds_ = state.at("interval_seconds");
  source_tokens_ = state.at("source_tokens");
  target_tokens_ = state.at("target_tokens");
  risk_ = state.value("risk", 0.0);
  sentences_ = state.value("sentences", std::int64_t{0});
  lowest_loss_ = state.value("lowest_loss", 0.0);
  lowest_loss_step_ = state.value("lowest_loss_step", std::int64_t{0});
}

}  // namespace regard
