#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace regard {

Schedule::Schedule(const TrainingOptions& options) : options_(options) {}

double Schedule::decayed(std::int64_t step) const {
  const auto& o = options_;
  const auto after_warmup = static_cast<double>(std::max<std::int64_t>(0, step - o.warmup_steps));
  switch (o.scheduling) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::plateau:
      return o.learning_rate * std::pow(o.decrease_factor, state_.decreases);
    case ScheduleKind::inverse_square_root: {
      const auto w = static_cast<double>(std::max<std::int64_t>(1, o.warmup_steps));
      return o.learning_rate * std::sqrt(w / std::max(w, static_cast<double>(step)));
    }
    case ScheduleKind::exponential: {
      const auto period = static_cast<double>(o.decay_steps > 0 ? o.decay_steps : 1000);
      return o.learning_rate * std::pow(o.decrease_factor, after_warmup / period);
    }
    case ScheduleKind::cosine: {
      const auto end = o.decay_steps > 0 ? o.decay_steps : o.max_steps;
      const auto span = static_cast<double>(std::max<std::int64_t>(1, end - o.warmup_steps));
      const auto progress = std::min(1.0, after_warmup / span);
      return o.learning_rate_min + (o.learning_rate - o.learning_rate_min) *
                                       (1 + std::cos(std::numbers::pi * progress)) / 2;
    }
  }
  return o.learning_rate;
}

double Schedule::rate(std::int64_t step) const {
  const auto rate = std::ldexp(std::max(decayed(step), options_.learning_rate_min),
                               -static_cast<int>(state_.rollbacks));
  if (step >= options_.warmup_steps) return rate;
  return rate * static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
}

void Schedule::validated(bool improved) {
  if (options_.scheduling != ScheduleKind::plateau) return;
  if (improved) {
    state_.validations_without_improvement = 0;
  } else if (++state_.validations_without_improvement > options_.decrease_patience) {
    ++state_.decreases;
    state_.validations_without_improvement = 0;
  }
}

bool Schedule::exhausted() const {
  const auto& o = options_;
  return o.scheduling == ScheduleKind::plateau && o.learning_rate_min > 0 &&
         decayed(0) <= o.learning_rate_min;
}

}  // namespace regard
