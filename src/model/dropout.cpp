#include "model/dropout.h"

#include "kernels/dropout.h"
#include "model/random_stream.h"

namespace regard {

torch::Tensor Dropout::forward(const torch::Tensor& x) const {
  if (!drops()) return x;
  return kernels::dropout(x, p_, RandomStream::draw());
}

}  // namespace regard
