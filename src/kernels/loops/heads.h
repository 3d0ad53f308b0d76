// Attention with independent heads, over the real positions of each sentence:
//
//   α_ts = softmax_s(scale · q_t·k_s)      y_t = Σ_s α_ts v_s
#pragma once

#include <cstdint>
#include <vector>

namespace regard::kernels {

// Vectors of `width` consecutive numbers. The vector of head h of row t of sentence b begins at
// data + b · sentence + t · row + h · head.
template <typename T>
struct Heads {
  T* data;
  std::int64_t sentence, row, head;
  T* at(std::int64_t b, std::int64_t t, std::int64_t h) const {
    return data + b * sentence + t * row + h * head;
  }
};

struct HeadSizes {
  // Numbers of sentences, heads, queries per sentence and positions per sentence; width of a head.
  std::int64_t B, H, T, S, width;
  const std::int64_t* lengths;  // [B], 1 to S: real positions of each sentence; null: all S
  bool causal = false;          // query t attends to positions s ≤ t only
  std::int64_t length(std::int64_t b) const { return lengths == nullptr ? S : lengths[b]; }
};

// For few queries per sentence: a decoding step, or the steps of a given target. Computes each
// query independently. Writes y, and unless `weights` is null, α [B, H, T, S], which is 0 at
// positions not attended to.
template <typename T>
void attend_heads(const HeadSizes& sizes, T scale, Heads<const T> q, Heads<const T> k,
                  Heads<const T> v, T* weights, Heads<T> y);

// Rotary positions (rotate() in scaled_dot_product.h): x [rows, columns] -> y. Row r of x has row
// r % angles of the sines and cosines [angles, d]. The inverse rotates back.
struct RotationSizes {
  std::int64_t rows, columns, width, angles, d;
};
template <typename T>
void rotate_rows(const RotationSizes& sizes, bool inverse, const T* x, const T* sines_and_cosines,
                 T* y);

// For many queries per sentence: training, and the encoder of a search. Forward and hand-written
// backward of all heads. dE is the gradient of e_ts = scale · q_t·k_s:
//
//   dα_ts = dy_t·v_s    dE_ts = α_ts (dα_ts − Σ_r α_tr dα_tr)
//   dq_t = scale · Σ_s dE_ts k_s    dk_s = scale · Σ_t dE_ts q_t    dv_s = Σ_t α_ts dy_t
//
// Computes every query, also those of padding. Each number is summed independently, in order, so
// that it has the same bits in every batch. Gradients of positions beyond the end are 0.
//
// The functions for one instruction set. Sizes are numbers of elements. `alpha` are the weights of
// all queries in an order of their own, `log_sums` log Σ_s exp(e_ts): backward() needs one of them,
// and computes α again if `alpha` is null.
template <typename T>
struct HeadLoops {
  std::int64_t (*alpha_size)(const HeadSizes& sizes);
  std::int64_t (*log_sums_size)(const HeadSizes& sizes);
  std::int64_t (*scratch_size)(const HeadSizes& sizes);
  // Writes y, and `alpha` and `log_sums` unless they are null.
  void (*forward)(const HeadSizes& sizes, T scale, Heads<const T> q, Heads<const T> k,
                  Heads<const T> v, T* scratch, T* alpha, T* log_sums, Heads<T> y);
  // Writes d_q, d_k and d_v.
  void (*backward)(const HeadSizes& sizes, T scale, Heads<const T> q, Heads<const T> k,
                   Heads<const T> v, const T* alpha, const T* log_sums, Heads<const T> d_y,
                   T* scratch, Heads<T> d_q, Heads<T> d_k, Heads<T> d_v);
};

// Returns the loops that this processor can run, fastest first.
template <typename T>
std::vector<HeadLoops<T>> runnable_head_loops();

// The loops for each instruction set newer than baseline x86-64, each compiled from its own source
// file.
template <typename T>
HeadLoops<T> heads_v3();
template <typename T>
HeadLoops<T> heads_v4();

}  // namespace regard::kernels
