// Products by what stays the same through a loop over time, whose gradient is made once after it.
//
//   y_t = x_t W, t = 1 … T      dW = Σ_t x_tᵀ dy_t = [x_1; …; x_T]ᵀ [dy_1; …; dy_T]
//
// Autograd makes T small products, and adds up T matrices of W's size; here they are one product.
// The gradient cannot itself be differentiated.
#pragma once

#include <torch/types.h>

#include <deque>

namespace regard::kernels {

// What the steps leave for W's gradient.
struct LateSteps;

// While it lives, this thread's late_product, and with it the products of linear.h, are of that
// kind on the CPU, wherever W needs a gradient.
class LateGradients {
 public:
  LateGradients();
  ~LateGradients();
  LateGradients(const LateGradients&) = delete;
  LateGradients& operator=(const LateGradients&) = delete;

 private:
  friend torch::Tensor late_product(const torch::Tensor& x, const torch::Tensor& W);
  struct Factor {
    torch::Tensor W;      // as it was first seen
    torch::Tensor after;  // the same, its gradient behind those of all steps
    c10::intrusive_ptr<LateSteps> steps;
  };
  const Factor& factor(const torch::Tensor& W);

  std::deque<Factor> factors_;
  LateGradients* before_;
};

// Whether W's gradient would be one of them now.
bool is_late(const torch::Tensor& W);

// x [M, K], W [K, N] -> x W [M, N]; or B of them, x [B, M, K], W [B, K, N].
torch::Tensor late_product(const torch::Tensor& x, const torch::Tensor& W);

}  // namespace regard::kernels
