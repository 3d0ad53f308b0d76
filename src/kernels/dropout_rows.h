// The loop of dropout.h.
#pragma once

#include <cstdint>

namespace regard::kernels {

// y may be x.
template <typename T>
void dropout_rows(std::int64_t n, const T* x, double p, std::uint64_t key, T* y);

}  // namespace regard::kernels
