// One time step of B gated recurrent units, without the products with U. model/rnn/cell.h has the
// equations; the order of the gates is r, z, s̃.
//
// Every pointer is to B consecutive rows, of the width in the comment. Strided is for rows of a
// wider array, `stride` elements apart. Functions write the arguments after `->` in a comment; of
// an array of gates, only the named gates. d_x, for any x, is the gradient of the loss with respect
// to x.
#pragma once

#include <cstdint>

namespace regard::kernels {

template <typename T>
struct Strided {
  T* data;
  std::int64_t stride;
  T* row(std::int64_t b) const { return data + b * stride; }
};

// The reset gate after the product:
//   r, z = σ(x + u)     s̃ = tanh(x + r ⊙ (u + b_U))     s' = z ⊙ s + (1 − z) ⊙ s̃
// x [B, 3D], u = U s [B, 3D], b_U [D], s [B, D] -> gates r, z, s̃ [B, 3D], next [B, D]
template <typename T>
void gru_after(std::int64_t B, std::int64_t D, const T* x, Strided<const T> u, const T* b_U,
               const T* s, T* gates, T* next);
// d_next [B, D] -> d_x [B, 3D], d_u [B, 3D], and d_s [B, D] without the part through u.
template <typename T>
void gru_after_backward(std::int64_t B, std::int64_t D, const T* d_next, const T* gates,
                        Strided<const T> u, const T* b_U, const T* s, T* d_x, Strided<T> d_u,
                        T* d_s);

// The reset gate before the product, in two halves. Between them, the caller computes v = U (r ⊙ s)
// with the columns of U for s̃:
//   r, z = σ(x + u)     r ⊙ s
// x [B, 3D], u = U s [B, 2D], s [B, D] -> gates r, z [B, 3D], reset [B, D]
template <typename T>
void gru_before_reset(std::int64_t B, std::int64_t D, const T* x, Strided<const T> u, const T* s,
                      T* gates, T* reset);
//   s̃ = tanh(x + v)     s' = z ⊙ s + (1 − z) ⊙ s̃
// v [B, D] -> gates s̃ [B, 3D], next [B, D]
template <typename T>
void gru_before_candidate(std::int64_t B, std::int64_t D, const T* x, const T* v, const T* s,
                          T* gates, T* next);
// d_next [B, D] -> d_x of z and s̃ [B, 3D], d_v [B, D], the first part of d_s [B, D]
template <typename T>
void gru_before_candidate_backward(std::int64_t B, std::int64_t D, const T* d_next, const T* gates,
                                   const T* s, T* d_x, T* d_v, T* d_s);
// d_reset = Uᵀ d_v [B, D] -> d_x of r [B, 3D], d_u of r and z [B, 2D]; adds to d_s
template <typename T>
void gru_before_reset_backward(std::int64_t B, std::int64_t D, const T* d_reset, const T* gates,
                               const T* s, T* d_x, Strided<T> d_u, T* d_s);

}  // namespace regard::kernels
