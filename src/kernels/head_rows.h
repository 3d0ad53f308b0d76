// Attention with independent heads, over the real positions of each sentence:
//
//   α_ts = softmax_s(scale · q_t·k_s)      y_t = Σ_s α_ts v_s
#pragma once

#include <cstdint>

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

// Replaces each of `rows` rows of n scores e by softmax(scale · e). `row`, the distance between
// rows, is a multiple of 16 and at least n. Overwrites the elements behind the n scores of a row.
template <typename T>
void softmax_of_scores(std::int64_t rows, std::int64_t n, T scale, T* e, std::int64_t row);

}  // namespace regard::kernels
