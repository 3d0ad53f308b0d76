// Products with a matrix that is the same at every step of a time loop. The gradient of the matrix
// is computed once, after the backward pass of all steps.
//
//   y_t = x_t W, t = 1 … T      dW = Σ_t x_tᵀ dy_t = [x_1; …; x_T]ᵀ [dy_1; …; dy_T]
//
// Autograd would compute T small products and add up T matrices of the size of W. Not twice
// differentiable.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <deque>

#include "kernels/mode.h"

namespace regard::kernels {

// The matrices of one time loop. While a Mode::time_loop() lives, deferred_product() and the
// products of linear.h on this thread defer the gradient of W, on the CPU, if W requires a
// gradient.
class DeferredGradients {
 public:
  struct Factor {
    torch::Tensor W;         // the argument of the first product
    torch::Tensor deferred;  // the same matrix; its gradient is computed after all steps
    c10::intrusive_ptr<torch::CustomClassHolder> steps;  // their inputs and output gradients
  };
  // Returns the entry of W, a new one at its first product.
  const Factor& factor(const torch::Tensor& W);

 private:
  std::deque<Factor> factors_;  // a deque, so that references stay valid
};

// True if the gradient of W would be deferred now.
bool is_deferred(const torch::Tensor& W);

// Returns x W. x [M, K], W [K, N] -> [M, N]; or a batch, x [B, M, K], W [B, K, N] -> [B, M, N].
torch::Tensor deferred_product(const torch::Tensor& x, const torch::Tensor& W);

}  // namespace regard::kernels
