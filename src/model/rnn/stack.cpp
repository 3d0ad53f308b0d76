#include "model/rnn/stack.h"

#include <string>

namespace regard {

Stack::Stack(std::int64_t layers, std::int64_t width, bool residual, bool layer_norm,
             double dropout)
    : residual_(residual),
      dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {
  for (std::int64_t l = 1; layer_norm && l <= layers; ++l) {
    norms_.push_back(
        register_module("norm" + std::to_string(l), std::make_shared<LayerNorm>(width)));
  }
}

torch::Tensor Stack::layer_input(std::size_t l, const torch::Tensor& x) const {
  return dropout_->forward(norms_.empty() ? x : norms_[l - 1]->forward(x));
}

torch::Tensor Stack::add_residual(std::size_t l, const torch::Tensor& x,
                                  const torch::Tensor& y) const {
  return residual_ && l > 0 ? x + y : y;
}

torch::Tensor Stack::final_norm(const torch::Tensor& x) const {
  return norms_.empty() ? x : norms_.back()->forward(x);
}

}  // namespace regard
