// The largest logits of each row, as log-probabilities.
#pragma once

#include <cstdint>

namespace regard::kernels {

// logits [n, V] -> the k largest of each row, largest first, lower indices first among
// equals: indices [n, k], and log softmax(logits) there [n, k].
template <typename T>
void top_k_rows(std::int64_t n, std::int64_t V, std::int64_t k, const T* logits, T* log_p,
                std::int64_t* indices);

}  // namespace regard::kernels
