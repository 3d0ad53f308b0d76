// The update rules: SGD with momentum, Adadelta (Zeiler 2012), Adam (Kingma and Ba 2015), AdamW
// (Loshchilov and Hutter 2019). Their state is named tensors, so that a checkpoint can carry it.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/training_options.h"

namespace regard {

using NamedParameters = std::vector<std::pair<std::string, torch::Tensor>>;

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // One update from the parameters' gradients, all of which are defined.
  void step(double learning_rate);
  void zero_grad();

  // The tensors themselves, not copies: "exp_avg.encoder.layer0.W", …
  const NamedParameters& state() const { return state_; }

 protected:
  using Tensors = std::vector<torch::Tensor>;

  explicit Optimizer(const NamedParameters& parameters);
  // Zeros beside each parameter, in their order, kept in the state under this name.
  Tensors make_state(const std::string& name);
  // One number, kept in the state.
  torch::Tensor make_counter(const std::string& name);

  virtual void update(Tensors& parameters, const Tensors& gradients, double learning_rate) = 0;

 private:
  std::vector<std::string> names_;
  Tensors parameters_;
  NamedParameters state_;
};

std::unique_ptr<Optimizer> make_optimizer(const TrainingOptions& options,
                                          const NamedParameters& parameters);

// Scales all gradients by limit / norm where their joint norm is above limit (Pascanu et al. 2013);
// 0 is no limit. Returns the norm before; where it is not finite, nothing was scaled.
double clip_gradients(const NamedParameters& parameters, double limit);

}  // namespace regard
