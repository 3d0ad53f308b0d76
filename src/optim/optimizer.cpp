#include "optim/optimizer.h"

#include <torch/utils.h>

#include <cmath>

namespace regard {

Tensors tensors_of(const NamedParameters& parameters) {
  Tensors tensors;
  for (const auto& [name, tensor] : parameters) tensors.push_back(tensor);
  return tensors;
}

Optimizer::Optimizer(const NamedParameters& parameters)
    : parameters_(tensors_of(parameters)), pieces_(parameters_) {
  for (const auto& [name, tensor] : parameters) names_.push_back(name);
}

Tensors Optimizer::make_state(const std::string& name) {
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

double Optimizer::step(const std::vector<Tensors>& shares, double factor, double learning_rate,
                       double limit, Workers& workers) {
  const torch::NoGradGuard guard;
  std::vector<torch::Tensor> norms(pieces_.count());
  pieces_.for_each(workers, [&](std::size_t i, const Piece& piece) {
    auto g = piece.of(shares[0]);
    for (std::size_t s = 1; s < shares.size(); ++s) g.add_(piece.of(shares[s]));
    norms[i] = g.norm();
  });
  const auto norm = factor * torch::stack(norms).to(torch::kDouble).norm().item<double>();
  if (!std::isfinite(norm)) return norm;
  if (limit > 0 && norm > limit) factor *= limit / norm;
  broke_off_ = true;
  begin_update();
  pieces_.for_each(workers, [&](std::size_t, const Piece& piece) {
    auto g = piece.of(shares[0]);
    if (factor != 1) g.mul_(factor);
    update(piece, piece.of(parameters_), g, learning_rate);
  });
  broke_off_ = false;
  return norm;
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
  void begin_update() override { count_.add_(1); }
  void update(const Piece& piece, torch::Tensor theta, torch::Tensor g,
              double learning_rate) override {
    const auto& o = options_;
    const auto fused = o.optimizer == OptimizerKind::adamw ? static_cast<Fused>(at::_fused_adamw_)
                                                           : static_cast<Fused>(at::_fused_adam_);
    fused(theta, g, piece.of(mean_), piece.of(square_), {}, count_, learning_rate, o.adam_beta1,
          o.adam_beta2, o.weight_decay, o.epsilon, /*amsgrad=*/false, /*maximize=*/false, {}, {});
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
  void update(const Piece& piece, torch::Tensor theta, torch::Tensor g,
              double learning_rate) override {
    if (options_.weight_decay > 0) g = g.add(theta, options_.weight_decay);
    if (!momentum_.empty()) g = piece.of(momentum_).mul_(options_.momentum).add_(g);
    theta.sub_(g, learning_rate);
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
  void update(const Piece& piece, torch::Tensor theta, torch::Tensor g,
              double learning_rate) override {
    const auto rho = options_.adadelta_rho;
    const auto epsilon = options_.epsilon;
    auto g2 = piece.of(square_);
    auto delta2 = piece.of(delta_);
    if (options_.weight_decay > 0) g = g.add(theta, options_.weight_decay);
    g2.mul_(rho).addcmul_(g, g, 1 - rho);
    const auto delta = (delta2 + epsilon).sqrt_().div_((g2 + epsilon).sqrt_()).mul_(g);
    delta2.mul_(rho).addcmul_(delta, delta, 1 - rho);
    theta.sub_(delta, learning_rate);
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

}  // namespace regard
