#include "model/input_layer.h"

#include <cmath>

namespace regard {

InputLayer::InputLayer(LayerKind kind, std::int64_t embedding_dim, std::int64_t width,
                       SelfAttentionOptions options, double dropout, const std::string& section)
    : dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {
  if (kind == LayerKind::recurrent) return;
  if (embedding_dim != width) {
    projection_ = register_module("projection", Linear(embedding_dim, width, false));
  }
  scale_ = std::sqrt(static_cast<double>(width));
  if (options.position == PositionKind::automatic) options.position = PositionKind::sinusoidal;
  positions_ = register_module("positions", std::make_shared<Positions>(options, width, section));
}

torch::Tensor InputLayer::forward(const torch::Tensor& embedded, std::int64_t first) {
  if (!positions_) return dropout_->forward(embedded);
  const auto x = projection_.is_empty() ? embedded : projection_->forward(embedded);
  return dropout_->forward(positions_->add_to(x * scale_, first));
}

}  // namespace regard
