#include "optim/optimizer.h"

#include <fmt/ranges.h>
#include <torch/utils.h>

#include <algorithm>

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
    : weights_(weights), rates_({{0, weights.flat().numel(), 1}}) {}

void Optimizer::set_rate_factors(const std::vector<double>& factors) {
  rates_.clear();
  const auto& parameters = weights_.views();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto begin = rates_.empty() ? 0 : parameters[i].second.storage_offset();
    if (!rates_.empty() && rates_.back().factor == factors.at(i)) continue;
    if (!rates_.empty()) rates_.back().end = begin;
    rates_.push_back({begin, weights_.flat().numel(), factors.at(i)});
  }
}

torch::Tensor Optimizer::add_moment(const std::string& name) {
  const auto moment = weights_.zeros_like();
  for (const auto& [parameter, view] : moment.views()) {
    state_.emplace_back(name + "." + parameter, view);
  }
  return moment.flat();
}

torch::Tensor Optimizer::add_counter(const std::string& name) {
  auto counter = torch::zeros({}, weights_.flat().options());
  state_.emplace_back(name, counter);
  return counter;
}

void Optimizer::update(const torch::Tensor& gradient, double factor, double learning_rate,
                       ThreadPool& pool) {
  const torch::NoGradGuard guard;
  begin_update();
  for_each_range(gradient, pool, [&](std::size_t, std::int64_t begin, std::int64_t end) {
    const auto g = gradient.slice(0, begin, end);
    if (factor != 1) g.mul_(factor);
    for (const auto& rate : rates_) {
      const auto first = std::max(begin, rate.begin);
      const auto last = std::min(end, rate.end);
      if (first >= last || rate.factor == 0) continue;
      update_range(first, last, weights_.flat().slice(0, first, last),
                   gradient.slice(0, first, last), learning_rate * rate.factor);
    }
  });
}

namespace {

// Adam and AdamW, by LibTorch's fused kernel: m = β1 m + (1 − β1) g, v = β2 v + (1 − β2) g²,
// θ −= lr m̂ / (√v̂ + ε), where m̂ = m / (1 − β1^n) and v̂ = v / (1 − β2^n) at update n.
class Adam : public Optimizer {
 public:
  Adam(const TrainingOptions& options, const ParameterBuffer& weights)
      : Optimizer(weights),
        options_(options),
        mean_(add_moment("exp_avg")),
        square_(add_moment("exp_avg_sq")),
        count_(add_counter("step")) {}

 protected:
  void begin_update() override { count_.add_(1); }
  void update_range(std::int64_t begin, std::int64_t end, torch::Tensor theta, torch::Tensor g,
                    double learning_rate) override {
    const auto& o = options_;
    const auto fused = o.optimizer == OptimizerKind::adamw ? static_cast<Fused>(at::_fused_adamw_)
                                                           : static_cast<Fused>(at::_fused_adam_);
    fused(theta, g, mean_.slice(0, begin, end), square_.slice(0, begin, end), {}, count_,
          learning_rate, o.adam_beta1, o.adam_beta2, o.weight_decay, o.epsilon, /*amsgrad=*/false,
          /*maximize=*/false, {}, {});
  }

 private:
  // The common type of the two kernels, which LibTorch overloads.
  using Fused = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                         at::TensorList, at::TensorList, double, double, double, double, double,
                         bool, bool, const std::optional<at::Tensor>&,
                         const std::optional<at::Tensor>&);
  TrainingOptions options_;
  torch::Tensor mean_;    // m
  torch::Tensor square_;  // v
  torch::Tensor count_;   // n
};

// b = μ b + g, θ −= lr b
class Sgd : public Optimizer {
 public:
  Sgd(const TrainingOptions& options, const ParameterBuffer& weights)
      : Optimizer(weights), options_(options) {
    if (options.momentum > 0) momentum_ = add_moment("momentum");
  }

 protected:
  void update_range(std::int64_t begin, std::int64_t end, torch::Tensor theta, torch::Tensor g,
                    double learning_rate) override {
    if (options_.weight_decay > 0) g = g.add(theta, options_.weight_decay);
    if (momentum_.defined()) g = momentum_.slice(0, begin, end).mul_(options_.momentum).add_(g);
    theta.sub_(g, learning_rate);
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
  void update_range(std::int64_t begin, std::int64_t end, torch::Tensor theta, torch::Tensor g,
                    double learning_rate) override {
    const auto rho = options_.adadelta_rho;
    const auto epsilon = options_.epsilon;
    auto g2 = square_.slice(0, begin, end);
    auto delta2 = delta_.slice(0, begin, end);
    if (options_.weight_decay > 0) g = g.add(theta, options_.weight_decay);
    g2.mul_(rho).addcmul_(g, g, 1 - rho);
    const auto delta = (delta2 + epsilon).sqrt_().div_((g2 + epsilon).sqrt_()).mul_(g);
    delta2.mul_(rho).addcmul_(delta, delta, 1 - rho);
    theta.sub_(delta, learning_rate);
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
