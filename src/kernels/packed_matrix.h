// A matrix that many others are multiplied with, made ready for it once (product_rows.h).
#pragma once

#include <torch/types.h>

namespace regard::kernels {

class PackedMatrix {
 public:
  // W [K, N] on the CPU, in single or double precision, lying in memory in any way.
  explicit PackedMatrix(const torch::Tensor& W);

  // x [M, K], of which rows or columns lie side by side -> y [M, N] = x W, or y + x W; y's columns
  // lie side by side. Each row's result is the same to the bit whatever the others are.
  void multiply(const torch::Tensor& x, const torch::Tensor& y, bool add = false) const;

 private:
  std::int64_t K_, N_;
  torch::Tensor packed_;
};

}  // namespace regard::kernels
