// Weights stored in 8 bits, in a quarter of the space (regard quantize):
//
//   W ≈ Q ⊙ s    Q: integers from -127 to 127    s: one number for each row, or for each column
//   s = max |w| / 127 over the row or column    Q = round(W / s)
//
// Rows or columns: whichever gives the smaller squared error. The tensor NAME becomes Q, and
// NAME.scale becomes s, in a shape that is multiplied by broadcasting. Vectors and small matrices
// stay as they are.
#pragma once

#include "checkpoint/safetensors.h"

namespace regard {

// Throws CheckpointError if a weight is not finite.
NamedTensors quantize(const NamedTensors& weights);

// Returns the weights in single precision. Weights that were not quantized are unchanged. Throws
// CheckpointError with `where` if a scale is missing or does not fit.
NamedTensors dequantize(const NamedTensors& weights, const std::string& where);

}  // namespace regard
