#include "model/input_layer.h"

#include <cmath>

namespace regard {

InputLayer::InputLayer(LayerKind kind, std::int64_t width, SelfAttentionOptions options,
                       double dropout, const std::string& section)
    : dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {
  if (kind == LayerKind::recurrent) return;
  scale_ = std::sqrt(static_cast<double>(width));
  if (options.position == PositionKind::automatic) options.position = PositionKind::sinusoidal;
  positions_ = register_module("positions", std::make_shared<Positions>(options, width, section));
}

torch::Tensor InputLayer::forward(const torch::Tensor& embedded, std::int64_t first) const {
  return dropout_->forward(positions_ ? positions_->add_to(embedded * scale_, first) : embedded);
}

}  // namespace regard
