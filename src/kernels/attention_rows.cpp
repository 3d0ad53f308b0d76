#include "kernels/attention_rows.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernels/vector_math.h"

namespace regard::kernels {
namespace {

template <typename T>
REGARD_INLINE T dot(std::int64_t n, const T* a, const T* b) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename T>
REGARD_INLINE void add_scaled(std::int64_t n, T factor, const T* a, T* sum) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) sum[i] += factor * a[i];
}

// e_s of one position.
template <typename T>
REGARD_INLINE T energy(const AttentionRows<T>& rows, const T* q, const T* k) {
  if (rows.form == ScoreForm::dot) return rows.scale * dot(rows.A, q, k);
  const T* v = rows.v;
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < rows.A; ++i) sum += v[i] * vector_tanh(q[i] + k[i]);
  return sum;
}

// From the gradient of e_s to those of q, k_s and v.
template <typename T>
REGARD_INLINE void energy_backward(const AttentionRows<T>& rows, T d_e, const T* q, const T* k,
                                   T* d_q, T* d_k, T* d_v) {
  if (rows.form == ScoreForm::dot) {
    add_scaled(rows.A, rows.scale * d_e, k, d_q);
    add_scaled(rows.A, rows.scale * d_e, q, d_k);
    return;
  }
  const T* v = rows.v;
#pragma omp simd
  for (std::int64_t i = 0; i < rows.A; ++i) {
    const T t = vector_tanh(q[i] + k[i]);
    const T d = d_e * v[i] * (1 - t * t);
    d_q[i] += d;
    d_k[i] += d;
    d_v[i] += d_e * t;
  }
}

template <typename T>
REGARD_INLINE void softmax(std::int64_t n, T* e) {
  const T largest = *std::max_element(e, e + n);
  T sum = 0;
  for (std::int64_t s = 0; s < n; ++s) {
    e[s] = vector_exp(e[s] - largest);
    sum += e[s];
  }
  for (std::int64_t s = 0; s < n; ++s) e[s] /= sum;
}

// α of sentence b for the query q.
template <typename T>
REGARD_INLINE void weigh_sentence(const AttentionRows<T>& rows, std::int64_t b, const T* q,
                                  T* weights) {
  const auto length = rows.lengths[b];
  const T* k = rows.keys + b * rows.S * rows.A;
  for (std::int64_t s = 0; s < length; ++s) weights[s] = energy(rows, q, k + s * rows.A);
  softmax(length, weights);
  std::fill(weights + length, weights + rows.S, T(0));
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void weigh(const AttentionRows<T>& rows, std::int64_t G, Strided<const T> q,
                               T* weights) {
  for (std::int64_t n = 0; n < rows.B * G; ++n, weights += rows.S) {
    weigh_sentence(rows, n / G, q.row(n), weights);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void attend(const AttentionRows<T>& rows, Strided<const T> q, const T* x,
                                T* weights, T* out) {
  const auto [S, M] = std::tuple(rows.S, rows.M);
  for (std::int64_t b = 0; b < rows.B; ++b, x += M, weights += S, out += M) {
    const auto length = rows.lengths[b];
    weigh_sentence(rows, b, q.row(b), weights);
    const T* m = rows.mixed + b * S * M;
    std::copy(x, x + M, out);
    for (std::int64_t s = 0; s < length; ++s) add_scaled(M, weights[s], m + s * M, out);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void attend_backward(const AttentionRows<T>& rows, Strided<const T> q,
                                         const T* weights, const T* d_weights, const T* d_out,
                                         Strided<T> d_q, T* d_keys, T* d_v) {
  const auto [S, A, M] = std::tuple(rows.S, rows.A, rows.M);
  std::vector<T> d_alpha(static_cast<std::size_t>(S));
  for (std::int64_t b = 0; b < rows.B; ++b, weights += S, d_out += M) {
    const auto length = rows.lengths[b];
    const T* m = rows.mixed + b * S * M;
    T mean = 0;  // Σ_s α_s d_α_s
    for (std::int64_t s = 0; s < length; ++s) {
      auto& d = d_alpha[static_cast<std::size_t>(s)];
      d = dot(M, m + s * M, d_out);
      if (d_weights != nullptr) d += d_weights[b * S + s];
      mean += weights[s] * d;
    }
    std::fill(d_q.row(b), d_q.row(b) + A, T(0));
    for (std::int64_t s = 0; s < length; ++s) {
      const T d_e = weights[s] * (d_alpha[static_cast<std::size_t>(s)] - mean);
      const auto position = (b * S + s) * A;
      energy_backward(rows, d_e, q.row(b), rows.keys + position, d_q.row(b), d_keys + position,
                      d_v + b * A);
    }
  }
}

#define REGARD_INSTANTIATE(T)                                                                  \
  template void weigh(const AttentionRows<T>&, std::int64_t, Strided<const T>, T*);            \
  template void attend(const AttentionRows<T>&, Strided<const T>, const T*, T*, T*);           \
  template void attend_backward(const AttentionRows<T>&, Strided<const T>, const T*, const T*, \
                                const T*, Strided<T>, T*, T*);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
