#include "kernels/loops/attention.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "kernels/loops/vector_math.h"
#include "kernels/loops/weighted_sums.h"

namespace regard::kernels {
namespace {

// The positions that query n, of sentence b, attends to: from begin to before end.
struct Span {
  std::int64_t begin, end;
};
template <typename T>
REGARD_INLINE Span span(const AttentionBuffers<T>& buffers, std::int64_t b, std::int64_t n) {
  if (buffers.windows == nullptr) return {0, buffers.lengths[b]};
  return {buffers.windows[2 * n], buffers.windows[2 * n + 1]};
}

// The key of position s of sentence b in keys [B, S, A], or its gradient; null if there are no
// keys.
template <typename T, typename Keys>
REGARD_INLINE Keys key(const AttentionBuffers<T>& buffers, Keys keys, std::int64_t b,
                       std::int64_t s) {
  return buffers.form == ScoreForm::position ? nullptr : keys + (b * buffers.S + s) * buffers.A;
}

// Returns the factor of q·k_s in e_s.
template <typename T>
REGARD_INLINE T product_scale(const AttentionBuffers<T>& buffers, const T* q) {
  if (buffers.form != ScoreForm::cosine) return buffers.scale;
  return buffers.scale / std::max(std::sqrt(dot(buffers.A, q, q)), static_cast<T>(smallest_norm));
}

// Returns e_s of position s with key k, for query number n, the vector q.
template <typename T>
REGARD_INLINE T energy(const AttentionBuffers<T>& buffers, T scale, std::int64_t n, std::int64_t s,
                       const T* q, const T* k) {
  if (buffers.form == ScoreForm::position) return q[s];
  if (buffers.form != ScoreForm::additive) return scale * dot(buffers.A, q, k);
  const T* v = buffers.v;
  T sum = 0;
  if (buffers.coverage != nullptr) {
    const T covered = buffers.coverage[n * buffers.S + s];
    const T* w = buffers.coverage_weight;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < buffers.A; ++i) {
      sum += v[i] * vector_tanh(q[i] + k[i] + covered * w[i]);
    }
    return sum;
  }
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < buffers.A; ++i) sum += v[i] * vector_tanh(q[i] + k[i]);
  return sum;
}

// Adds the gradient of e_s to the gradients of q, k_s and v. Treats `scale` as constant, also for a
// cosine.
template <typename T>
REGARD_INLINE void energy_backward(const AttentionBuffers<T>& buffers, T scale, std::int64_t s,
                                   T d_e, const T* q, const T* k, T* d_q, T* d_k, T* d_v) {
  if (buffers.form == ScoreForm::position) {
    d_q[s] += d_e;
    return;
  }
  if (buffers.form != ScoreForm::additive) {
    add_scaled(buffers.A, scale * d_e, k, d_q);
    add_scaled(buffers.A, scale * d_e, q, d_k);
    return;
  }
  const T* v = buffers.v;
#pragma omp simd
  for (std::int64_t i = 0; i < buffers.A; ++i) {
    const T t = vector_tanh(q[i] + k[i]);
    const T d = d_e * v[i] * (1 - t * t);
    d_q[i] += d;
    d_k[i] += d;
    d_v[i] += d_e * t;
  }
}

// Writes e of sentence b for its query number n, the vector q; 0 outside of the span.
template <typename T>
REGARD_INLINE void score_sentence(const AttentionBuffers<T>& buffers, std::int64_t b,
                                  std::int64_t n, const T* q, T* e) {
  const auto [begin, end] = span(buffers, b, n);
  const T scale = product_scale(buffers, q);
  std::fill(e, e + begin, T(0));
  for (std::int64_t s = begin; s < end; ++s) {
    e[s] = energy(buffers, scale, n, s, q, key(buffers, buffers.keys, b, s));
  }
  std::fill(e + end, e + buffers.S, T(0));
}

// Like score_sentence(), but writes α.
template <typename T>
REGARD_INLINE void weigh_sentence(const AttentionBuffers<T>& buffers, std::int64_t b,
                                  std::int64_t n, const T* q, T* weights) {
  const auto [begin, end] = span(buffers, b, n);
  score_sentence(buffers, b, n, q, weights);
  softmax_in_place(end - begin, weights + begin);
}

// Propagates the gradient of α to q, k and v, for sentence b and its query number n. If there are
// no weights, d_weights is the gradient of e.
template <typename T>
REGARD_INLINE void weigh_sentence_backward(const AttentionBuffers<T>& buffers, std::int64_t b,
                                           std::int64_t n, const T* q, const T* weights,
                                           const T* d_weights, T* d_q, T* d_keys, T* d_v) {
  const auto A = buffers.A;
  const auto [begin, end] = span(buffers, b, n);
  const T mean = weights == nullptr ? T(0) : dot(end - begin, weights + begin, d_weights + begin);
  const T scale = product_scale(buffers, q);
  std::fill(d_q, d_q + A, T(0));
  for (std::int64_t s = begin; s < end; ++s) {
    const T d_e = weights == nullptr ? d_weights[s] : weights[s] * (d_weights[s] - mean);
    energy_backward(buffers, scale, s, d_e, q, key(buffers, buffers.keys, b, s), d_q,
                    key(buffers, d_keys, b, s), d_v == nullptr ? d_v : d_v + b * A);
  }
  // A cosine does not depend on |q|, so d_q has no component along q. A query shorter than
  // smallest_norm is divided by a constant.
  if (buffers.form != ScoreForm::cosine) return;
  const T square = dot(A, q, q);
  if (std::sqrt(square) > smallest_norm) add_scaled(A, -dot(A, d_q, q) / square, q, d_q);
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void weigh(const AttentionBuffers<T>& buffers, std::int64_t G,
                               Strided<const T> q, T* weights) {
  for (std::int64_t n = 0; n < buffers.B * G; ++n, weights += buffers.S) {
    weigh_sentence(buffers, n / G, n, q.row(n), weights);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void score(const AttentionBuffers<T>& buffers, std::int64_t G,
                               Strided<const T> q, T* e) {
  for (std::int64_t n = 0; n < buffers.B * G; ++n, e += buffers.S) {
    score_sentence(buffers, n / G, n, q.row(n), e);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void softmax_within(std::int64_t B, std::int64_t G, std::int64_t S,
                                        const std::int64_t* lengths, T* e) {
  for (std::int64_t n = 0; n < B * G; ++n, e += S) {
    const auto end = lengths[n / G];
    softmax_in_place(end, e);
    std::fill(e + end, e + S, T(0));
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void mix(std::int64_t B, std::int64_t G, std::int64_t S, std::int64_t M,
                             const std::int64_t* lengths, const T* weights, const T* values,
                             T* out) {
  for (std::int64_t b = 0; b < B; ++b, weights += G * S, values += S * M, out += G * M) {
    weighted_sums(G, lengths[b], M, weights, S, values, M, out, M);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void weigh_backward(const AttentionBuffers<T>& buffers, std::int64_t G,
                                        Strided<const T> q, const T* weights, const T* d_weights,
                                        Strided<T> d_q, T* d_keys, T* d_v) {
  for (std::int64_t n = 0; n < buffers.B * G; ++n, d_weights += buffers.S) {
    weigh_sentence_backward(buffers, n / G, n, q.row(n), weights, d_weights, d_q.row(n), d_keys,
                            d_v);
    if (weights != nullptr) weights += buffers.S;
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void attend(const AttentionBuffers<T>& buffers, Strided<const T> q, const T* x,
                                T* weights, T* out) {
  const auto [S, M] = std::tuple(buffers.S, buffers.M);
  for (std::int64_t b = 0; b < buffers.B; ++b, x += M, weights += S, out += M) {
    const auto [begin, end] = span(buffers, b, b);
    weigh_sentence(buffers, b, b, q.row(b), weights);
    const T* m = buffers.mixed + b * S * M;
    std::copy(x, x + M, out);
    for (std::int64_t s = begin; s < end; ++s) add_scaled(M, weights[s], m + s * M, out);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void attend_backward(const AttentionBuffers<T>& buffers, Strided<const T> q,
                                         const T* weights, const T* d_weights, const T* d_out,
                                         Strided<T> d_q, T* d_keys, T* d_v) {
  const auto [S, M] = std::tuple(buffers.S, buffers.M);
  std::vector<T> d_alpha(static_cast<std::size_t>(S));
  for (std::int64_t b = 0; b < buffers.B; ++b, weights += S, d_out += M) {
    const T* m = buffers.mixed + b * S * M;
    const auto [begin, end] = span(buffers, b, b);
    for (std::int64_t s = begin; s < end; ++s) {
      auto& d = d_alpha[static_cast<std::size_t>(s)];
      d = dot(M, m + s * M, d_out);
      if (d_weights != nullptr) d += d_weights[b * S + s];
    }
    weigh_sentence_backward(buffers, b, b, q.row(b), weights, d_alpha.data(), d_q.row(b), d_keys,
                            d_v);
  }
}

#define REGARD_INSTANTIATE(T)                                                                      \
  template void weigh(const AttentionBuffers<T>&, std::int64_t, Strided<const T>, T*);             \
  template void score(const AttentionBuffers<T>&, std::int64_t, Strided<const T>, T*);             \
  template void softmax_within(std::int64_t, std::int64_t, std::int64_t, const std::int64_t*, T*); \
  template void mix(std::int64_t, std::int64_t, std::int64_t, std::int64_t, const std::int64_t*,   \
                    const T*, const T*, T*);                                                       \
  template void weigh_backward(const AttentionBuffers<T>&, std::int64_t, Strided<const T>,         \
                               const T*, const T*, Strided<T>, T*, T*);                            \
  template void attend(const AttentionBuffers<T>&, Strided<const T>, const T*, T*, T*);            \
  template void attend_backward(const AttentionBuffers<T>&, Strided<const T>, const T*, const T*,  \
                                const T*, Strided<T>, T*, T*);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
