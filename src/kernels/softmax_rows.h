// The cross-entropy of some rows of logits, and its gradient in their place.
#pragma once

#include <cstdint>

namespace regard::kernels {

struct RowLosses {
  double loss = 0;  // with label smoothing ε
  double nll = 0;   // −log P(target)
};

// logits [n, V] become d loss / d logits = softmax(logits) − (1 − ε) one-hot(target) − ε / V.
// targets [n], each below V. Returns sums over the rows.
template <typename T>
RowLosses softmax_rows(std::int64_t n, std::int64_t V, T* logits, const std::int64_t* targets,
                       double label_smoothing);

}  // namespace regard::kernels
