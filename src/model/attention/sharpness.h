// What content-based addressing is made of (Graves, Wayne, Danihelka 2014, equations 5 and 6): the
// cosine of two vectors times a sharpness β = softplus(b).
#pragma once

#include <torch/types.h>

#include <cmath>

#include "kernels/attention.h"
#include "kernels/functions.h"

namespace regard {

// The b with which training begins, where β is 8: the cosine alone, between -1 and 1, would
// leave every softmax nearly even.
inline double first_sharpness() {
  return std::log(std::expm1(8.0));
}

// x / |x| along the last dimension; a vector shorter than 1e-8 is divided by that.
inline torch::Tensor normalised(const torch::Tensor& x) {
  return kernels::unit(x, kernels::smallest_norm);
}

}  // namespace regard
