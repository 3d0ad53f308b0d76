#include "optim/optimizer.h"

#include <cmath>

namespace regard {

Optimizer::Optimizer(const NamedParameters& parameters) {
  for (const auto& [name, tensor] : parameters) {
    names_.push_back(name);
    parameters_.push_back(tensor);
  }
}

Optimizer::Tensors Optimizer::make_state(const std::string& name) {
  Tensors tensors;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    tensors.push_back(torch::zeros_like(parameters_[i], torch::requires_grad(false)));
    state_.emplace_back(name + "." + names_[i], tensors.back());
  }
  return tensors;
}

torch::Tensor Optimizer::make_counter(const std::string& name) {
  auto counter = torch::zeros({}, parameters_.at(0).options().requires_grad(false));
  state_.emplace_back(name, counter);
  return counter;
}

void Optimizer::step(double learning_rate) {
  const torch::NoGradGuard guard;
  Tensors gradients;
  for (const auto& parameter : parameters_) gradients.push_back(parameter.grad());
  update(parameters_, gradients, learning_rate);
}

void Optimizer::zero_grad() {
  for (auto& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
}

namespace {

// m = β1 m + (1 − β1) g, v = β2 v + (1 − β2) g², θ −= lr m̂ / (√v̂ + ε), by Torch's fused kernel.
class Adam : public Optimizer {
 public:
  Adam(const TrainingOptions& options, const NamedParameters& parameters)
      : Optimizer(parameters),
        options_(options),
        mean_(make_state("exp_avg")),
        square_(make_state("exp_avg_sq")),
        count_(make_counter("step")) {}

 protected:
  void update(Tensors& theta, const Tensors& g, double learning_rate) override {
    count_.add_(1);
    const Tensors counts(theta.size(), count_);
    const auto& o = options_;
    const auto fused = o.optimizer == OptimizerKind::adamw ? static_cast<Fused>(at::_fused_adamw_)
                                                           : static_cast<Fused>(at::_fused_adam_);
    fused(theta, g, mean_, square_, {}, counts, learning_rate, o.adam_beta1, o.adam_beta2,
          o.weight_decay, o.epsilon, /*amsgrad=*/false, /*maximize=*/false, {}, {});
  }

 private:
  using Fused = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                         at::TensorList, at::TensorList, double, double, double, double, double,
                         bool, bool, const std::optional<at::Tensor>&,
                         const std::optional<at::Tensor>&);
  TrainingOptions options_;
  Tensors mean_;
  Tensors square_;
  torch::Tensor count_;
};

// b = μ b + g, θ −= lr b
class Sgd : public Optimizer {
 public:
  Sgd(const TrainingOptions& options, const NamedParameters& parameters)
      : Optimizer(parameters), options_(options) {
    if (options.momentum > 0) momentum_ = make_state("momentum");
  }

 protected:
  void update(Tensors& theta, const Tensors& gradients, double learning_rate) override {
    for (std::size_t i = 0; i < theta.size(); ++i) {
      auto g = gradients[i];
      if (options_.weight_decay > 0) g = g.add(theta[i], options_.weight_decay);
      if (!momentum_.empty()) g = momentum_[i].mul_(options_.momentum).add_(g);
      theta[i].sub_(g, learning_rate);
    }
  }

 private:
  TrainingOptions options_;
  Tensors momentum_;
};

// E[g²] = ρ E[g²] + (1 − ρ) g², Δ = g √(E[Δ²] + ε) / √(E[g²] + ε), θ −= lr Δ
class Adadelta : public Optimizer {
 public:
  Adadelta(const TrainingOptions& options, const NamedParameters& parameters)
      : Optimizer(parameters),
        options_(options),
        square_(make_state("square_avg")),
        delta_(make_state("delta_avg")) {}

 protected:
  void update(Tensors& theta, const Tensors& gradients, double learning_rate) override {
    const auto rho = options_.adadelta_rho;
    const auto epsilon = options_.epsilon;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      auto g = gradients[i];
      if (options_.weight_decay > 0) g = g.add(theta[i], options_.weight_decay);
      square_[i].mul_(rho).addcmul_(g, g, 1 - rho);
      const auto delta = (delta_[i] + epsilon).sqrt_().div_((square_[i] + epsilon).sqrt_()).mul_(g);
      delta_[i].mul_(rho).addcmul_(delta, delta, 1 - rho);
      theta[i].sub_(delta, learning_rate);
    }
  }

 private:
  TrainingOptions options_;
  Tensors square_;
  Tensors delta_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const TrainingOptions& options,
                                          const NamedParameters& parameters) {
  switch (options.optimizer) {
    case OptimizerKind::sgd:
      return std::make_unique<Sgd>(options, parameters);
    case OptimizerKind::adadelta:
      return std::make_unique<Adadelta>(options, parameters);
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      break;
  }
  return std::make_unique<Adam>(options, parameters);
}

double clip_gradients(const NamedParameters& parameters, double limit) {
  const torch::NoGradGuard guard;
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, tensor] : parameters) gradients.push_back(tensor.grad());
  const auto norm = torch::stack(at::_foreach_norm(gradients)).norm().item<double>();
  if (limit > 0 && std::isfinite(norm) && norm > limit) at::_foreach_mul_(gradients, limit / norm);
  return norm;
}

}  // namespace regard
