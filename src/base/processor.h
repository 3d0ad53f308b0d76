// The generation of x86-64 that the processor has: regard's innermost loops are compiled for three
// of them (kernels/product_rows.h, kernels/vector_math.h), and `regard --version` names it.
#pragma once

#include <string>

namespace regard {

enum class Generation { baseline, v3, v4 };

// Returns the newest generation that the processor runs and loops are compiled for: v3 has AVX2 and
// FMA, v4 AVX-512. Other processors than x86-64 are baseline.
Generation processor_generation();

// "x86-64-v3 (AVX2)"; of other processors the name of their architecture.
std::string kernels_text();

}  // namespace regard
