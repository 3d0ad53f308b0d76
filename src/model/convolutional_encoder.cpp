#include "model/convolutional_encoder.h"

#include <torch/utils.h>

#include "base/error.h"
#include "kernels/attention.h"
#include "kernels/linear.h"
#include "model/initialisation.h"

namespace regard {
namespace {

constexpr int convolutions_over_grid = 3;

// x [B, H, W, C] -> [B, H / 2, W / 2, C], the largest of each 2 × 2 pixels
torch::Tensor max_pool(const torch::Tensor& x) {
  return torch::max_pool2d(x.permute({0, 3, 1, 2}), {2, 2}).permute({0, 2, 3, 1});
}

}  // namespace

ConvolutionalEncoder::ConvolutionalEncoder(const EncoderOptions& options, double state_dropout)
    : height_(options.image_height),
      width_(options.numbers / options.image_channels),
      channels_(options.image_channels),
      dropout_(register_module("dropout", std::make_shared<Dropout>(state_dropout))) {
  auto below = channels_;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    const auto channels = options.hidden_size >> (options.layers - 1 - l);
    blocks_.push_back(make_convolution("block" + std::to_string(l), below, channels));
    below = channels;
  }
  for (int k = 0; k < convolutions_over_grid; ++k) {
    over_grid_.push_back(make_convolution("grid" + std::to_string(k), below, below));
  }
  positions_ =
      register_parameter("positions", torch::empty({grid_of(options).size(), options.hidden_size}));
  embedding_normal(positions_);
}

ConvolutionalEncoder::Convolution ConvolutionalEncoder::make_convolution(const std::string& name,
                                                                         std::int64_t below,
                                                                         std::int64_t channels) {
  return {register_module(name, Linear(9 * below, channels, false)),
          register_module(name + "_norm", std::make_shared<LayerNorm>(channels))};
}

torch::Tensor ConvolutionalEncoder::Convolution::operator()(const torch::Tensor& x) {
  return torch::relu(norm->forward(W->forward(kernels::neighbourhoods(x))));
}

EncoderOutput ConvolutionalEncoder::forward(const torch::Tensor& frames,
                                            const torch::Tensor& lengths,
                                            std::vector<torch::Tensor>* /*self_attention*/) {
  const auto rows = lengths.min().item<std::int64_t>() - 1;
  const auto most = frames.size(1) - 1;
  if (rows != height_ || most != height_) {
    throw InputError(
        "found an image of {} rows of pixels, expected {} (model.encoder.image_height)",
        rows != height_ ? rows : most, height_);
  }
  const auto B = frames.size(0);
  auto x = frames.narrow(1, 0, height_)
               .narrow(2, 0, width_ * channels_)
               .to(positions_.dtype())
               .reshape({B, height_, width_, channels_});
  for (auto& block : blocks_) x = max_pool(block(x));  // [B, H / 2^l, W / 2^l, C]
  x = x + positions_.view({x.size(1), x.size(2), x.size(3)});
  for (auto& convolution : over_grid_) x = x + convolution(x);
  const auto states = x.flatten(1, 2);  // [B, G, D]
  EncoderOutput encoded;
  encoded.set_lengths(torch::full_like(lengths, states.size(1)), states.size(1), frames.device());
  encoded.states = dropout_->forward(states);
  encoded.summary = dropout_->forward(kernels::masked_mean(states, encoded.mask));
  return encoded;
}

}  // namespace regard
