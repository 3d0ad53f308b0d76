// The encoder of images: a grid of features that attention reads cell by cell, as in Xu et al. 2015
// (Show, Attend and Tell, section 3.1.1), whose grid is a layer of the network of Simonyan and
// Zisserman 2015. L blocks follow each other, each a 3 × 3 convolution with zeros beyond the edges,
// layer normalisation over the channels of each pixel, ReLU and 2 × 2 max pooling:
//
//   x_0 = image [H, W, c]      x_l = maxpool(max(0, norm(W_l * x_{l−1})))
//   g_0,s = x_L,s + p_s        g_k = g_{k−1} + max(0, norm(V_k * g_{k−1}))      h_s = g_3,s
//
// Block l has D / 2^(L−l) channels, so that the last has D. Cell s of the grid covers 2^L × 2^L
// pixels; cells are numbered row by row. p_s is learned: without it, no state would tell where its
// cell is, and attention could not tell left from right. The three convolutions over the grid let
// each cell see 7 × 7 cells: a sum over cells counts things, which attention, whose weights have
// the sum 1, cannot. The summary is the mean of the states, from which the decoder starts (Xu et
// al., section 3.1.2). Dropout is applied to the states and to the summary, with separate masks.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "config/model_options.h"
#include "model/encoder.h"
#include "model/layers.h"

namespace regard {

class ConvolutionalEncoder : public Encoder {
 public:
  ConvolutionalEncoder(const EncoderOptions& options, double state_dropout);

  // `frames` is a batch of images as SourceVectors has them, [B, H + 1, W c + 1]: rows of pixels,
  // then </s>, which is left out. `lengths` are H + 1. Throws InputError for images of another
  // height. Returns [B, G, D] states for the G cells of the grid.
  EncoderOutput forward(const torch::Tensor& frames, const torch::Tensor& lengths,
                        std::vector<torch::Tensor>* self_attention = nullptr) override;
  std::int64_t state_size() const override { return positions_.size(1); }

 private:
  // A convolution and what follows it: max(0, norm(W * x)).
  struct Convolution {
    Linear W{nullptr};  // [channels, 9 channels below]
    std::shared_ptr<LayerNorm> norm;

    torch::Tensor operator()(const torch::Tensor& x);  // [B, H, W, C]
  };
  Convolution make_convolution(const std::string& name, std::int64_t below, std::int64_t channels);

  std::int64_t height_;    // H
  std::int64_t width_;     // W
  std::int64_t channels_;  // c
  std::vector<Convolution> blocks_;
  torch::Tensor positions_;  // p [G, D]
  std::vector<Convolution> over_grid_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
