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
//
// It derives from LayerNorm, whose forward() is norm, so that the parameters of norm are named
// after the residual connection, such as attention_norm.g.
class Residual : public LayerNorm {
 public:
  Residual(std::int64_t D, NormPlacement placement, double dropout)
      : LayerNorm(D),
        placement_(placement),
        dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {}

  // Applies sublayer f: [B, T, D] -> [B, T, D] with its residual connection.
  template <typename Sublayer>
  torch::Tensor apply(const torch::Tensor& x, Sublayer&& f) const {
    if (placement_ == NormPlacement::pre) return x + dropout_->forward(f(forward(x)));
    return forward(x + dropout_->forward(f(x)));
  }

 private:
  NormPlacement placement_;
  std::shared_ptr<Dropout> dropout_;
};

// The position-wise feed-forward network (Vaswani et al. 2017, section 3.3):
//
//   y = W_2 max(0, W_1 x + b_1) + b_2
class FeedForward : public torch::nn::Module {
 public:
  // D is the width of input and output, F the width of the inner layer, to which dropout is
  // applied.
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

// An encoder layer: self-attention and the feed-forward network, each with a residual
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

// A decoder layer: self-attention to the positions so far, attention to the source, and the
// feed-forward network, each with a residual connection and layer normalisation.
class DecoderLayer : public torch::nn::Module {
 public:
  // C is the width of the encoder's states.
  DecoderLayer(std::int64_t D, std::int64_t C, const SelfAttentionOptions& options,
               const DropoutOptions& dropout);

  // The encoded source sentences, as the layer reads them.
  struct Source {
    torch::Tensor keys_and_values;  // [B, S, 2D], from source_keys_and_values()
    Padding padding;
  };
  // Computes the keys and values of encoder states [B, S, C] -> [B, S, 2D].
  torch::Tensor source_keys_and_values(const torch::Tensor& states);

  // Computes all positions at once: x [B, T, D].
  struct AllSteps {
    torch::Tensor x;        // [B, T, D]
    torch::Tensor weights;  // [B, T, S] attention to the source, mean over the heads; undefined
                            // unless wanted
  };
  AllSteps forward(const torch::Tensor& x, const Source& source, bool want_weights);

  // Computes one position x [N, 1, D] for N = G · B rows, with G consecutive rows per sentence.
  // past [N, t, 2D] has the keys and values of the earlier positions.
  struct Step {
    torch::Tensor x;     // [N, 1, D]
    torch::Tensor past;  // [N, t + 1, 2D]
    // Undefined unless wanted:
    torch::Tensor weights;  // [N, S] attention to the source, mean over the heads
    torch::Tensor heads;    // [N, H, S] attention of each head to the source
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
