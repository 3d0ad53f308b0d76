#include "model/layers.h"

#include "kernels/functions.h"
#include "model/initialisation.h"
#include "model/random_stream.h"

namespace regard {

LinearImpl::LinearImpl(std::int64_t in, std::int64_t out, bool with_bias) {
  weight = register_parameter("weight", torch::empty({out, in}));
  xavier_uniform(weight);
  if (with_bias) bias = register_parameter("bias", torch::zeros({out}));
}

torch::Tensor Dropout::forward(const torch::Tensor& x) const {
  if (!is_active()) return x;
  return kernels::dropout(x, p_, RandomStream::draw());
}

LayerNorm::LayerNorm(std::int64_t D)
    : g_(register_parameter("g", torch::ones({D}))),
      b_(register_parameter("b", torch::zeros({D}))) {}

torch::Tensor LayerNorm::forward(const torch::Tensor& x) const {
  return torch::layer_norm(x, g_.sizes(), g_, b_);
}

}  // namespace regard
