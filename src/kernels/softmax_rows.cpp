#include "kernels/softmax_rows.h"

#include <cmath>

#include "kernels/vector_math.h"

namespace regard::kernels {

template <typename T>
REGARD_FOR_EACH_CPU double softmax_rows(std::int64_t n, std::int64_t V, T* logits, const T* bias,
                                        const std::int64_t* targets, double label_smoothing,
                                        T* d_bias, double* nll) {
  double loss = 0;
  const T uniform = static_cast<T>(label_smoothing / static_cast<double>(V));
  for (std::int64_t row = 0; row < n; ++row, logits += V) {
    T largest = logits[0] + bias[0];
    T sum = 0;
#pragma omp simd reduction(max : largest) reduction(+ : sum)
    for (std::int64_t y = 0; y < V; ++y) {
      logits[y] += bias[y];
      largest = logits[y] > largest ? logits[y] : largest;
      sum += logits[y];
    }
    const double target = logits[targets[row]];
    T total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t y = 0; y < V; ++y) {
      logits[y] = vector_exp(logits[y] - largest);
      total += logits[y];
    }
    const double log_total = static_cast<double>(largest) + std::log(static_cast<double>(total));
    const double mean = static_cast<double>(sum) / static_cast<double>(V);
    nll[row] = log_total - target;
    loss += log_total - (1 - label_smoothing) * target - label_smoothing * mean;
    if (d_bias == nullptr) continue;

    const T inverse = 1 / total;
#pragma omp simd
    for (std::int64_t y = 0; y < V; ++y) {
      logits[y] = logits[y] * inverse - uniform;
      d_bias[y] += logits[y];
    }
    const T one = static_cast<T>(1 - label_smoothing);
    logits[targets[row]] -= one;
    d_bias[targets[row]] -= one;
  }
  return loss;
}

template double softmax_rows(std::int64_t, std::int64_t, float*, const float*, const std::int64_t*,
                             double, float*, double*);
template double softmax_rows(std::int64_t, std::int64_t, double*, const double*,
                             const std::int64_t*, double, double*, double*);

}  // namespace regard::kernels
