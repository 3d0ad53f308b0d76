// The update rules: SGD with momentum, Adadelta (Zeiler 2012), Adam (Kingma and Ba 2015), AdamW
// (Loshchilov and Hutter 2019). Their state is named tensors, so that a checkpoint can carry it.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/workers.h"
#include "config/training_options.h"
#include "optim/pieces.h"

namespace regard {

using NamedParameters = std::vector<std::pair<std::string, torch::Tensor>>;

Tensors tensors_of(const NamedParameters& parameters);

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // One update. The gradient is `factor` times the sum over the shares, each of which has a
  // contiguous tensor for every parameter, in their order; the first share is overwritten. It is
  // scaled by limit / norm where its joint norm is above the limit (Pascanu et al. 2013); 0 is no
  // limit. Returns the norm before; where it is not finite, nothing is updated.
  double step(const std::vector<Tensors>& shares, double factor, double learning_rate, double limit,
              Workers& workers);

  // An exception has ended an update in its middle: the weights are neither the old nor the new
  // ones.
  bool broke_off() const { return broke_off_; }

  // The tensors themselves, not copies: "exp_avg.encoder.layer0.W", …
  const NamedParameters& state() const { return state_; }

 protected:
  explicit Optimizer(const NamedParameters& parameters);
  // Zeros beside each parameter, in their order, kept in the state under this name.
  Tensors make_state(const std::string& name);
  // One number, kept in the state.
  torch::Tensor make_counter(const std::string& name);

  // Called once before the pieces of an update, which come in any order and several at once.
  virtual void begin_update() {}
  // theta and g [size], the parameter's and the gradient's part.
  virtual void update(const Piece& piece, torch::Tensor theta, torch::Tensor g,
                      double learning_rate) = 0;

 private:
  bool broke_off_ = false;
  std::vector<std::string> names_;
  Tensors parameters_;
  Pieces pieces_;
  NamedParameters state_;
};

std::unique_ptr<Optimizer> make_optimizer(const TrainingOptions& options,
                                          const NamedParameters& parameters);

}  // namespace regard
