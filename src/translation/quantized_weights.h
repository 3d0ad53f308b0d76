// Weights stored in 8 bits, in a quarter of the space (regard quantize):
//
//   W ≈ Q ⊙ s    Q: integers from -127 to 127    s: one number for each row, or for each column
//   s = max |w| / 127 over the row or column    Q = round(W / s)
//
// Each matrix is scaled by row or by column, whichever has the smaller squared error. Q is stored
// as NAME and s as NAME.scale, in a shape that broadcasts to W. Vectors and matrices of less than
// 4096 numbers are unchanged, because they take little space.
#pragma once

#include "checkpoint/safetensors.h"

namespace regard {

// Returns the weights with Q and s in place of each matrix. Throws CheckpointError if a weight is
// not finite.
NamedTensors quantize(const NamedTensors& weights);

// Returns the weights in single precision. Weights that were not quantized are unchanged. Throws
// CheckpointError if a scale is missing or does not fit; its message begins with `where`, the name
// of the file.
NamedTensors dequantize(const NamedTensors& weights, const std::string& where);

}  // namespace regard
