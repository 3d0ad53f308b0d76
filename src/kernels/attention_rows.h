// One step of attention for B sentences, from the query to the mixture, position by position and
// never past a sentence's end, or outside a query's window where there are windows.
//
//   e_s = vᵀ tanh(q + k_s)      (additive)      e_s = scale · q·k_s            (dot)
//   e_s = q_s, without keys     (position)      e_s = scale · q·k_s / |q|      (cosine)
//   e_s = vᵀ tanh(q + k_s + w C_s)              (additive, with a coverage C of the query's own)
//   α = softmax_s(e)            out = x + Σ_s α_s m_s
//
// m_s is what the mixture is made of: the states, or the states times a matrix that the caller has
// multiplied once a sentence, since Σ α_s (C h_s) = C Σ α_s h_s.
#pragma once

#include <cstdint>

#include "kernels/gru_rows.h"

namespace regard::kernels {

enum class ScoreForm { additive, dot, cosine, position };

// |q| is taken for no less, so that a query of zeros asks for nothing in particular.
constexpr double smallest_norm = 1e-8;

template <typename T>
struct AttentionRows {
  ScoreForm form;
  T scale;                      // dot, cosine
  std::int64_t B, S, A, M;      // sentences, positions, widths of query and keys and of the mixture
  const T* keys;                // [B, S, A]; position: none, and A = S
  const T* v;                   // [A], additive
  const T* mixed;               // [B, S, M]
  const std::int64_t* lengths;  // [B], 1 to S
  // [queries, 2]: each query's positions, from the first to before the second; or null, for all of
  // its sentence's.
  const std::int64_t* windows = nullptr;
  const T* coverage = nullptr;  // C [queries, S], or null; without gradient
  const T* w = nullptr;         // [A], with coverage
};

// G queries to each sentence, q [B · G, A] -> weights α [B · G, S], 0 elsewhere
template <typename T>
void weigh(const AttentionRows<T>& rows, std::int64_t G, Strided<const T> q, T* weights);

// The scores before the softmax: q [B · G, A] -> e [B · G, S], 0 where there are no weights.
template <typename T>
void score(const AttentionRows<T>& rows, std::int64_t G, Strided<const T> q, T* e);

// Scores e [B · G, S] of lengths [B] -> α in their place, 0 beyond each sentence's end.
template <typename T>
void softmax_within(std::int64_t B, std::int64_t G, std::int64_t S, const std::int64_t* lengths,
                    T* e);

// Mixtures of values [B, S, M]: weights [B · G, S] -> Σ_s α_s value_s [B · G, M], s below
// lengths [B]. Each number is summed in the order of the positions.
template <typename T>
void mix(std::int64_t B, std::int64_t G, std::int64_t S, std::int64_t M,
         const std::int64_t* lengths, const T* weights, const T* values, T* out);

// weights as weigh() gave them, d_weights [B · G, S] -> d_q [B · G, A]; adds to d_keys [B, S, A]
// and to d_v [B, A], the gradient of v by sentence.
template <typename T>
void weigh_backward(const AttentionRows<T>& rows, std::int64_t G, Strided<const T> q,
                    const T* weights, const T* d_weights, Strided<T> d_q, T* d_keys, T* d_v);

// One query to each: q [B, A], x [B, M] -> weights α [B, S], out [B, M]
template <typename T>
void attend(const AttentionRows<T>& rows, Strided<const T> q, const T* x, T* weights, T* out);

// d_weights [B, S] or null, d_out [B, M] -> d_q [B, A]; adds to d_keys [B, S, A] and to d_v [B, A],
// the gradient of v by sentence. That of m is the caller's: Σ_t α_ts d_out_t, one product.
template <typename T>
void attend_backward(const AttentionRows<T>& rows, Strided<const T> q, const T* weights,
                     const T* d_weights, const T* d_out, Strided<T> d_q, T* d_keys, T* d_v);

}  // namespace regard::kernels
