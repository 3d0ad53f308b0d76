#include "optim/optimizer.h"

#include <fmt/ranges.h>
#include <torch/utils.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "base/strings.h"

namespace regard {

namespace {

// Returns the modules of the parameters, for a message: "encoder, decoder.layer0, output_bias".
std::string modules_of(const NamedParameters& parameters) {
  std::vector<std::string> modules;
  for (const auto& [name, parameter] : parameters) {
    auto module = name.substr(0, name.rfind('.'));
    if (std::ranges::count(modules, module) == 0) modules.push_back(std::move(module));
  }
  return fmt::format("{}", fmt::join(modules, ", "));
}

}  // namespace

std::vector<double> learning_rate_factors(const TrainingOptions& options,
                                          const NamedParameters& parameters) {
  std::vector<double> factors(parameters.size(), 1);
  const auto apply = [&](const std::string& key, const std::string& pattern, double factor) {
    if (pattern.empty()) {
      throw ConfigError("{}: missing or empty, expected a pattern such as encoder.*", key);
    }
    bool is_used = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!matches_pattern(parameters[i].first, pattern)) continue;
      factors[i] *= factor;
      is_used = true;
    }
    if (is_used) return;
    const auto of_module = pattern + ".*";
    if (std::ranges::any_of(parameters, [&](const auto& parameter) {
          return matches_pattern(parameter.first, of_module);
        })) {
      throw ConfigError("{}: found `{}`, a module, expected parameters; write `{}`", key, pattern,
                        of_module);
    }
    throw ConfigError(
        "{}: found `{}`, which matches no parameter; the parameters are in {} (* stands for any "
        "text, as in encoder.*)",
        key, pattern, modules_of(parameters));
  };
  for (std::size_t i = 0; i < options.learning_rates.size(); ++i) {
    apply(fmt::format("training.learning_rates.{}.parameters", i),
          options.learning_rates[i].parameters, options.learning_rates[i].factor);
  }
  for (const auto& pattern : options.freeze) apply("training.freeze", pattern, 0);
  if (!factors.empty() && std::ranges::all_of(factors, [](double f) { return f == 0; })) {
    throw ConfigError(
        "training.freeze and training.learning_rates freeze every parameter: nothing would be "
        "trained; remove a pattern");
  }
  return factors;
}

Optimizer::Optimizer(const ParameterBuffer& weights)
    : weights_(weights),
      rate_factors_(weights.views().size(), 1),
      frozen_updates_(torch::zeros({std::ssize(weights.views())}, torch::kDouble)) {}

void Optimizer::set_rate_factors(const std::vector<double>& factors) {
  rate_factors_ = factors;
}

std::vector<Optimizer::Range> Optimizer::ranges(double learning_rate) const {
  std::vector<Range> found;
  const auto& parameters = weights_.views();
  const auto* frozen_updates = frozen_updates_.const_data_ptr<double>();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto factor = rate_factors_.at(i);
    const Range range = {.begin = found.empty() ? 0 : parameters[i].second.storage_offset(),
                         .end = weights_.flat().numel(),
                         .is_frozen = factor == 0,
                         .learning_rate = learning_rate * factor,
                         .frozen_updates = frozen_updates[i]};
    const auto is_alike = [&](const Range& last) {
      return last.is_frozen == range.is_frozen && last.learning_rate == range.learning_rate &&
             last.frozen_updates == range.frozen_updates;
    };
    if (!found.empty() && is_alike(found.back())) continue;
    if (!found.empty()) found.back().end = range.begin;
    found.push_back(range);
  }
  return found;
}

torch::Tensor Optimizer::add_moment(const std::string& name) {
  const auto moment = weights_.zeros_like();
  for (const auto& [parameter, view] : moment.views()) {
    state_.emplace_back(fmt::format("{}.{}", name, parameter), view);
  }
  return moment.flat();
}

torch::Tensor Optimizer::add_counter(const std::string& name) {
  auto counter = torch::zeros({}, weights_.flat().options());
  state_.emplace_back(name, counter);
  return counter;
}

void Optimizer::update(const torch::Tensor& gradient, double factor, double learning_rate,
                       ThreadPool& pool,
                       const std::function<void(std::int64_t, std::int64_t)>& after_range) {
  const torch::NoGradGuard guard;
  begin_update(nullptr);
  const auto all = ranges(learning_rate);
  for_each_range(gradient, pool, [&](std::size_t, std::int64_t begin, std::int64_t end) {
    const auto g = gradient.slice(0, begin, end);
    if (factor != 1) g.mul_(factor);
    for (auto range : all) {
      range.begin = std::max(begin, range.begin);
      range.end = std::min(end, range.end);
      if (range.begin >= range.end || range.is_frozen) continue;
      update_range(range, weights_.flat().slice(0, range.begin, range.end),
                   gradient.slice(0, range.begin, range.end));
    }
    if (after_range) after_range(begin, end);
  });
  count_update();
}

void Optimizer::update_on_device(const torch::Tensor& gradient, const OnDevice& numbers) {
  const torch::NoGradGuard guard;
  begin_update(&numbers);
  for (auto range : ranges(/*learning_rate=*/1)) {
    if (range.is_frozen) continue;
    range.numbers = &numbers;
    update_range(range, weights_.flat().slice(0, range.begin, range.end),
                 gradient.slice(0, range.begin, range.end));
  }
}

void Optimizer::count_update() {
  auto* frozen_updates = frozen_updates_.mutable_data_ptr<double>();
  for (std::size_t i = 0; i < rate_factors_.size(); ++i) {
    if (rate_factors_[i] == 0) ++frozen_updates[i];
  }
}

namespace {

// Adam and AdamW, by LibTorch's fused kernel: m = β1 m + (1 − β1) g, v = β2 v + (1 − β2) g²,
// θ −= lr m̂ / (√v̂ + ε), where m̂ = m / (1 − β1^n) and v̂ = v / (1 − β2^n) at update n of the
// parameter.
class Adam : public Optimizer {
 public:
  Adam(const TrainingOptions& options, const ParameterBuffer& weights)
      : Optimizer(weights),
        options_(options),
        mean_(add_moment("exp_avg")),
        square_(add_moment("exp_avg_sq")),
        count_(add_counter("step")) {
    add_frozen_updates();
  }
  bool has_update_on_device() const override { return true; }

 protected:
  void begin_update(const OnDevice* numbers) override {
    if (numbers == nullptr) {
      count_.add_(1);
    } else {
      count_.add_(1 - numbers->skip.squeeze());
    }
  }
  void update_range(const Range& range, torch::Tensor theta, torch::Tensor g) override {
    if (range.numbers == nullptr) {
      return update_with(range.learning_rate, {}, {}, range, theta, g);
    }
    const auto& [rate, divisor, skip] = *range.numbers;
    update_with(range.learning_rate == 1 ? rate : rate * range.learning_rate, divisor, skip, range,
                theta, g);
  }

 private:
  // The common types of the two kernels, which LibTorch overloads.
  template <typename Rate>
  using Fused = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                         at::TensorList, at::TensorList, Rate, double, double, double, double, bool,
                         bool, const std::optional<at::Tensor>&, const std::optional<at::Tensor>&);

  // Rate is double or a tensor. divisor and skip: as in OnDevice, or nothing.
  template <typename Rate>
  void update_with(const Rate& rate, const std::optional<at::Tensor>& divisor,
                   const std::optional<at::Tensor>& skip, const Range& range,
                   const torch::Tensor& theta, const torch::Tensor& g) {
    using Kernel = Fused<std::conditional_t<std::is_same_v<Rate, double>, double, const Rate&>>;
    const auto& o = options_;
    const auto n = range.frozen_updates == 0 ? count_ : count_ - range.frozen_updates;
    const auto fused = o.optimizer == OptimizerKind::adamw ? static_cast<Kernel>(at::_fused_adamw_)
                                                           : static_cast<Kernel>(at::_fused_adam_);
    fused(theta, g, mean_.slice(0, range.begin, range.end),
          square_.slice(0, range.begin, range.end), {}, n, rate, o.adam_beta1, o.adam_beta2,
          o.weight_decay, o.epsilon, /*amsgrad=*/false, /*maximize=*/false, divisor, skip);
  }

  TrainingOptions options_;
  torch::Tensor mean_;    // m
  torch::Tensor square_;  // v
  torch::Tensor count_;   // n of a parameter that was never frozen
};

// b = μ b + g, θ −= lr b
class Sgd : public Optimizer {
 public:
  Sgd(const TrainingOptions& options, const ParameterBuffer& weights)
      : Optimizer(weights), options_(options) {
    if (options.momentum > 0) momentum_ = add_moment("momentum");
  }

 protected:
  void update_range(const Range& range, torch::Tensor theta, torch::Tensor g) override {
    if (options_.weight_decay > 0) g = g.add(theta, options_.weight_decay);
    if (momentum_.defined()) {
      g = momentum_.slice(0, range.begin, range.end).mul_(options_.momentum).add_(g);
    }
    theta.sub_(g, range.learning_rate);
  }

 private:
  TrainingOptions options_;
  torch::Tensor momentum_;
};

// E[g²] = ρ E[g²] + (1 − ρ) g², Δ = g √(E[Δ²] + ε) / √(E[g²] + ε), θ −= lr Δ
class Adadelta : public Optimizer {
 public:
  Adadelta(const TrainingOptions& options, const ParameterBuffer& weights)
      : Optimizer(weights),
        options_(options),
        square_(add_moment("square_avg")),
        delta_(add_moment("delta_avg")) {}

 protected:
  void update_range(const Range& range, torch::Tensor theta, torch::Tensor g) override {
    const auto rho = options_.adadelta_rho;
    const auto epsilon = options_.epsilon;
    auto g2 = square_.slice(0, range.begin, range.end);
    auto delta2 = delta_.slice(0, range.begin, range.end);
    if (options_.weight_decay > 0) g = g.add(theta, options_.weight_decay);
    g2.mul_(rho).addcmul_(g, g, 1 - rho);
    const auto delta = (delta2 + epsilon).sqrt_().div_((g2 + epsilon).sqrt_()).mul_(g);
    delta2.mul_(rho).addcmul_(delta, delta, 1 - rho);
    theta.sub_(delta, range.learning_rate);
  }

 private:
  TrainingOptions options_;
  torch::Tensor square_;  // E[g²]
  torch::Tensor delta_;   // E[Δ²]
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const TrainingOptions& options,
                                          const ParameterBuffer& weights) {
  switch (options.optimizer) {
    case OptimizerKind::sgd:
      return std::make_unique<Sgd>(options, weights);
    case OptimizerKind::adadelta:
      return std::make_unique<Adadelta>(options, weights);
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      break;
  }
  return std::make_unique<Adam>(options, weights);
}

}  // namespace regard
