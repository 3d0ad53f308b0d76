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
  std::int64_t B, H, T, S, width;  // sentences, heads, queries and positions per sentence
  const std::int64_t* lengths;     // [B], 1 to S, of the positions; null: S
  bool causal = false;             // query t attends to positions s ≤ t only
  std::int64_t length(std::int64_t b) const { return lengths == nullptr ? S : lengths[b]; }
};

// For few queries per sentence: a decoding step, or the steps of a given target. Each query is
// computed independently. Writes y, and α [B, H, T, S], 0 at positions not attended to, unless
// weights is null.
template <typename T>
void attend_heads(const HeadSizes& sizes, T scale, Heads<const T> q, Heads<const T> k,
                  Heads<const T> v, T* weights, Heads<T> y);

// Replaces rows of n scores e by softmax(scale · e). `row`, the distance between rows, is a
// multiple of 16. Overwrites the elements behind the n scores of a row.
template <typename T>
void softmax_of_scores(std::int64_t rows, std::int64_t n, T scale, T* e, std::int64_t row);

}  // namespace regard::kernels
