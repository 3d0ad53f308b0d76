// The layers of the Transformer (Vaswani et al. 2017, section 3.1) and their sublayers.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "model/layers.h"
#include "model/transformer/multi_head_attention.h"

namespace regard {

// The residual connection around a sublayer f, with layer normalisation (Ba et al. 2016) after the
// sum, as in Vaswani et al. 2017, or before the sublayer, which trains deep stacks more reliably
// (Xiong et al. 2020):
//
//   post: norm(x + dropout(f(x)))      pre: x + dropout(f(norm(x)))
class Residual : public LayerNorm {
 public:
  Residual(std::int64_t D, NormPlace place, double dropout)
      : LayerNorm(D),
        place_(place),
        dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {}

  // f: [B, T, D] -> [B, T, D]
  template <typename Sublayer>
  torch::Tensor around(const torch::Tensor& x, Sublayer&& f) const {
    if (place_ == NormPlace::pre) return x + dropout_->forward(f(forward(x)));
    return forward(x + dropout_->forward(f(x)));
  }

 private:
  NormPlace place_;
  std::shared_ptr<Dropout> dropout_;
};

// The position-wise feed-forward network (Vaswani et al. 2017, section 3.3):
//
//   y = W_2 max(0, W_1 x + b_1) + b_2
class FeedForward : public torch::nn::Module {
 public:
  // D: width of input and output; F: width inside, where the dropout is.
  FeedForward(std::int64_t D, std::int64_t F, double dropout)
      : W_1_(register_module("W_1", Linear(D, F))),
        W_2_(register_module("W_2", Linear(F, D))),
        dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {}

  // [B, T, D] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x) { return W_2_(dropout_->forward(W_1_(x).relu_())); }

 private:
  Linear W_1_;  // [F, D]
  Linear W_2_;  // [D, F]
  std::shared_ptr<Dropout> dropout_;
};

// A layer of the encoder: self-attention and the feed-forward network, each with a residual
// connection and layer normalisation.
class EncoderLayer : public torch::nn::Module {
 public:
  EncoderLayer(std::int64_t D, const SelfAttentionOptions& options, const DropoutOptions& dropout);

  // x [B, S, D] -> [B, S, D]
  torch::Tensor forward(const torch::Tensor& x, const Padding& padding);

 private:
  std::shared_ptr<MultiHeadAttention> attention_;
  std::shared_ptr<Residual> attention_norm_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Residual> feed_forward_norm_;
};

// A layer of the decoder: self-attention to the positions so far, attention to the source, and the
// feed-forward network, each with a residual connection and layer normalisation.
class DecoderLayer : public torch::nn::Module {
 public:
  // C is the width of the encoder's states.
  DecoderLayer(std::int64_t D, std::int64_t C, const SelfAttentionOptions& options,
               const DropoutOptions& dropout);

  // The source sentences, as keys and values of this layer.
  struct Source {
    torch::Tensor keys_and_values;  // [B, S, 2D], from source_keys()
    Padding padding;
  };
  torch::Tensor source_keys(const torch::Tensor& states);  // [B, S, C] -> [B, S, 2D]

  // All positions at once: x [B, T, D].
  struct AllSteps {
    torch::Tensor x;        // [B, T, D]
    torch::Tensor weights;  // [B, T, S] over the source, the mean over the heads; if wanted
  };
  AllSteps forward(const torch::Tensor& x, const Source& source, bool want_weights);

  // One position for N = G · B rows, G consecutive rows per sentence: x [N, 1, D]; past [N, t, 2D],
  // the keys and values of the earlier positions.
  struct Step {
    torch::Tensor x;        // [N, 1, D]
    torch::Tensor past;     // [N, t + 1, 2D]
    torch::Tensor weights;  // [N, S] over the source, the mean over the heads; if wanted
    torch::Tensor heads;    // [N, H, S] over the source; if wanted
  };
  Step step(const torch::Tensor& x, const torch::Tensor& past, const Source& source,
            bool want_weights);

 private:
  std::shared_ptr<MultiHeadAttention> self_attention_;
  std::shared_ptr<Residual> self_attention_norm_;
  std::shared_ptr<MultiHeadAttention> source_attention_;
  std::shared_ptr<Residual> source_attention_norm_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Residual> feed_forward_norm_;
};

}  // namespace regard
