#include "kernels/top_k_rows.h"

#include <algorithm>
#include <limits>

#include "kernels/vector_math.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t block = 64;

// Inserts a value into the k sorted ones; it is larger than the last.
template <typename T>
REGARD_INLINE void insert(std::int64_t k, T value, std::int64_t index, T* values,
                          std::int64_t* indices) {
  auto place = k - 1;
  for (; place > 0 && values[place - 1] < value; --place) {
    values[place] = values[place - 1];
    indices[place] = indices[place - 1];
  }
  values[place] = value;
  indices[place] = index;
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void top_k_rows(std::int64_t n, std::int64_t V, std::int64_t k, const T* logits,
                                    T* log_p, std::int64_t* indices) {
  for (std::int64_t row = 0; row < n; ++row, logits += V, log_p += k, indices += k) {
    std::fill(log_p, log_p + k, -std::numeric_limits<T>::infinity());
    std::fill(indices, indices + k, 0);
    for (std::int64_t begin = 0; begin < V; begin += block) {
      const auto size = std::min(block, V - begin);
      if (!(largest_of(size, logits + begin) > log_p[k - 1])) continue;  // the usual case
      for (std::int64_t y = begin; y < begin + size; ++y) {
        if (logits[y] > log_p[k - 1]) insert(k, logits[y], y, log_p, indices);
      }
    }
    const T log_total = log_sum_exp(V, logits, log_p[0]);
    for (std::int64_t i = 0; i < k; ++i) log_p[i] -= log_total;
  }
}

template void top_k_rows(std::int64_t, std::int64_t, std::int64_t, const float*, float*,
                         std::int64_t*);
template void top_k_rows(std::int64_t, std::int64_t, std::int64_t, const double*, double*,
                         std::int64_t*);

}  // namespace regard::kernels
