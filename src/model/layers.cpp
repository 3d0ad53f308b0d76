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
  return kernels::dropout(x, draw());
}

kernels::DrawnDropout Dropout::draw() const {
  if (!is_active()) return {};
  return RandomStream::draw_dropout(p_);
}

LayerNorm::LayerNorm(std::int64_t D)
    : g_(register_parameter("g", torch::ones({D}))),
      b_(register_parameter("b", torch::zeros({D}))) {}

torch::Tensor LayerNorm::forward(const torch::Tensor& x) const {
  return add_and_norm(x, {}, {}).norm;
}

kernels::NormOfSum LayerNorm::add_and_norm(const torch::Tensor& x, const torch::Tensor& z,
                                           const kernels::DrawnDropout& dropout) const {
  return kernels::add_and_norm(x, z, dropout, g_, b_);
}

}  // namespace regard
