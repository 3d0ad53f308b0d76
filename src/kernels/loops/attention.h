// One step of attention for B sentences, from the query to the mixture. Reads only positions inside
// each sentence, or inside the query's window if there are windows.
//
//   e_s = vᵀ tanh(q + k_s)      (additive)      e_s = scale · q·k_s            (dot)
//   e_s = q_s, without keys     (position)      e_s = scale · q·k_s / |q|      (cosine)
//   e_s = vᵀ tanh(q + k_s + w C_s)              (additive, with the coverage C of the query)
//   α = softmax_s(e)            out = x + Σ_s α_s m_s
//
// x is the input to which the mixture is added, such as the gates of a GRU. m_s are the encoder
// states h_s or their products P h_s with a matrix, which the caller computes once per sentence:
// Σ α_s (P h_s) = P Σ α_s h_s.
//
// d_x, for any x, is the gradient of the loss with respect to x. Functions write their last
// arguments: those after `->` in a comment.
#pragma once

#include <cstdint>

#include "kernels/loops/cells.h"

namespace regard::kernels {

enum class ScoreForm { additive, dot, cosine, position };

// The lower bound of |q| in a cosine, so that a query of zeros has scores of 0.
constexpr double smallest_norm = 1e-8;

template <typename T>
struct AttentionBuffers {
  ScoreForm form;
  T scale;                      // dot, cosine
  std::int64_t B, S;            // numbers of sentences and of positions
  std::int64_t A, M;            // width of query and keys, width of the mixture
  const T* keys;                // [B, S, A]; position: not read, and A = S
  const T* v;                   // [A], additive
  const T* mixed;               // m [B, S, M]
  const std::int64_t* lengths;  // [B], 1 to S
  // [queries, 2]: begin and end (exclusive) of each query's positions; null: the whole sentence.
  const std::int64_t* windows = nullptr;
  const T* coverage = nullptr;         // C [queries, S], or null; without gradient
  const T* coverage_weight = nullptr;  // [A], with coverage
};

// G queries per sentence: q [B · G, A] -> weights α [B · G, S], 0 at positions not read.
template <typename T>
void weigh(const AttentionBuffers<T>& buffers, std::int64_t G, Strided<const T> q, T* weights);

// Computes the scores before the softmax: q [B · G, A] -> e [B · G, S], 0 at positions not read.
template <typename T>
void score(const AttentionBuffers<T>& buffers, std::int64_t G, Strided<const T> q, T* e);

// Replaces the scores e [B · G, S] by α, 0 beyond lengths [B].
template <typename T>
void softmax_within(std::int64_t B, std::int64_t G, std::int64_t S, const std::int64_t* lengths,
                    T* e);

// Computes mixtures of values [B, S, M]: weights [B · G, S] -> out = Σ_s α_s value_s [B · G, M]
// over s below lengths [B]. Each number is summed in the order of the positions.
template <typename T>
void mix(std::int64_t B, std::int64_t G, std::int64_t S, std::int64_t M,
         const std::int64_t* lengths, const T* weights, const T* values, T* out);

// The gradient of weigh(): weights as it wrote them, d_weights [B · G, S] -> d_q [B · G, A]; adds
// to d_keys [B, S, A] and to d_v [B, A], the gradient of v per sentence (null unless additive).
// Weights null: the gradient of score(), with d_e for d_weights.
template <typename T>
void weigh_backward(const AttentionBuffers<T>& buffers, std::int64_t G, Strided<const T> q,
                    const T* weights, const T* d_weights, Strided<T> d_q, T* d_keys, T* d_v);

// One query per sentence: q [B, A], x [B, M] -> weights α [B, S], out [B, M]
template <typename T>
void attend(const AttentionBuffers<T>& buffers, Strided<const T> q, const T* x, T* weights, T* out);

// The gradient of attend(): d_weights [B, S] or null (zeros), d_out [B, M] -> d_q [B, A]; adds to
// d_keys [B, S, A] and to d_v [B, A], the gradient of v per sentence (null unless additive). The
// caller computes the gradient of m, Σ_t α_ts d_out_t, for all steps t as one product.
template <typename T>
void attend_backward(const AttentionBuffers<T>& buffers, Strided<const T> q, const T* weights,
                     const T* d_weights, const T* d_out, Strided<T> d_q, T* d_keys, T* d_v);

}  // namespace regard::kernels
