// One time step of B recurrent cells, without the products with U. model/rnn/cell.h has the
// equations and the order of the gates: r, z, s̃ of a GRU, i, f, o, c̃ of an LSTM.
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

// A GRU with the reset gate after the product:
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

// A GRU with the reset gate before the product, in two halves. Between them, the caller computes v
// = U (r ⊙ s) with the columns of U for s̃:
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

// An LSTM:
//   i, f, o = σ(x + u)     c̃ = tanh(x + u)     c' = f ⊙ c + i ⊙ c̃     h' = o ⊙ tanh(c')
// x [B, 4D], u = U h [B, 4D], c [B, D] -> gates i, f, o, c̃ [B, 4D], next_c [B, D], next_h [B, D]
template <typename T>
void lstm(std::int64_t B, std::int64_t D, const T* x, Strided<const T> u, const T* c, T* gates,
          T* next_c, T* next_h);
// d_next_h [B, D], d_c = d_next_c [B, D] -> d_x [B, 4D], d_u [B, 4D], and d_c of c.
template <typename T>
void lstm_backward(std::int64_t B, std::int64_t D, const T* d_next_h, const T* gates, const T* c,
                   const T* next_c, T* d_x, Strided<T> d_u, T* d_c);

// A simple cell:
//   h' = tanh(x + u)
// x [B, D], u = U h [B, D] -> next [B, D]
template <typename T>
void tanh_cell(std::int64_t B, std::int64_t D, const T* x, Strided<const T> u, T* next);
// d_next [B, D] -> d_x [B, D], d_u [B, D]
template <typename T>
void tanh_cell_backward(std::int64_t B, std::int64_t D, const T* d_next, const T* next, T* d_x,
                        Strided<T> d_u);

}  // namespace regard::kernels
