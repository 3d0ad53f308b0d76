// For equations written out loop by loop.
#pragma once

#include <torch/types.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace regard {

using Numbers = std::vector<double>;

inline Numbers numbers(const torch::Tensor& tensor) {
  const auto flat = tensor.detach().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

inline double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// matrix [n, m] times x [m]
inline Numbers product(const torch::Tensor& matrix, const Numbers& x) {
  Numbers y;
  for (std::int64_t i = 0; i < matrix.size(0); ++i) y.push_back(dot(numbers(matrix[i]), x));
  return y;
}

inline Numbers softmax(Numbers e) {
  for (auto& value : e) value = std::exp(value);
  const auto total = std::accumulate(e.begin(), e.end(), 0.0);
  for (auto& value : e) value /= total;
  return e;
}

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace regard
