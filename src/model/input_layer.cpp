#include "model/input_layer.h"

#include <cmath>

#include "model/random_stream.h"

namespace regard {

InputLayer::InputLayer(LayerKind kind, std::int64_t embedding_dim, std::int64_t width,
                       SelfAttentionOptions options, const DropoutOptions& dropout,
                       const std::string& section)
    : token_dropout_(dropout.tokens),
      dropout_(register_module("dropout", std::make_shared<Dropout>(dropout.embeddings))) {
  if (kind == LayerKind::recurrent) return;
  if (embedding_dim != width) {
    projection_ = register_module("projection", Linear(embedding_dim, width, false));
  }
  scale_ = std::sqrt(static_cast<double>(width));
  if (options.position == PositionKind::automatic) options.position = PositionKind::sinusoidal;
  positions_ = register_module("positions", std::make_shared<Positions>(options, width, section));
}

torch::Tensor InputLayer::cut_off(const torch::Tensor& embedded) const {
  if (!is_training() || token_dropout_ == 0) return embedded;
  auto shape = embedded.sizes().vec();
  shape.back() = 1;
  const auto ones = torch::ones(shape, embedded.options());
  return embedded * kernels::dropout(ones, RandomStream::draw_dropout(token_dropout_)).ne(0);
}

torch::Tensor InputLayer::scaled(const torch::Tensor& embedded) {
  return (projection_.is_empty() ? embedded : projection_->forward(embedded)) * scale_;
}

torch::Tensor InputLayer::forward(const torch::Tensor& whole) {
  const auto embedded = cut_off(whole);
  if (!positions_) return dropout_->forward(embedded);
  return dropout_->forward(positions_->add_to(scaled(embedded)));
}

torch::Tensor InputLayer::step(const torch::Tensor& whole, const DecoderState& state) {
  const auto embedded = cut_off(whole);
  if (!positions_) return dropout_->forward(embedded);
  return dropout_->forward(positions_->add_to(scaled(embedded), state));
}

}  // namespace regard
