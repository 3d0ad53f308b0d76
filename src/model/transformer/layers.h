// The layers of the Transformer (Vaswani et al. 2017, section 3.1) and their sublayers.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "kernels/multi_head.h"
#include "model/layers.h"
#include "model/seq2seq.h"
#include "model/transformer/multi_head_attention.h"

namespace regard {

// The states between two sublayers: x + dropout(z). z is the output of the last sublayer, which the
// next normalisation adds to x in the same pass. It is undefined if there is nothing to add.
struct ResidualStream {
  torch::Tensor x;  // [B, T, D]
  torch::Tensor z;  // [B, T, D]
  kernels::DrawnDropout dropout;
};

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

  // Applies sublayer f: [B, T, D] -> [B, T, D] with its residual connection. With
  // NormPlacement::post, streams have no z.
  template <typename Sublayer>
  ResidualStream apply(const ResidualStream& stream, Sublayer&& f) const {
    if (placement_ == NormPlacement::pre) {
      const auto [x, y] = add_and_norm(stream.x, stream.z, stream.dropout);
      const auto z = f(y);
      return {x, z, dropout_->draw()};
    }
    const auto z = f(stream.x);
    return {.x = add_and_norm(stream.x, z, dropout_->draw()).norm, .z = {}, .dropout = {}};
  }

 private:
  NormPlacement placement_;
  std::shared_ptr<Dropout> dropout_;
};

// Returns the states after the last sublayer, normalised if there is a `norm`, as with
// NormPlacement::pre. Without it, the stream must have no z.
torch::Tensor final_norm(const LayerNorm* norm, const ResidualStream& stream);

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
  torch::Tensor forward(const torch::Tensor& x) {
    return W_2_(kernels::linear_relu(x, W_1_->weight, W_1_->bias, dropout_->draw()));
  }

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

  // `rotation` has the sines and cosines of rotary positions [S, d] (make_rotation()), or is
  // undefined. Stores the weights of each head [B, H, S, S] in `heads`, unless it is null.
  ResidualStream forward(const ResidualStream& x, const kernels::Padding& padding,
                         const torch::Tensor& rotation, torch::Tensor* heads = nullptr);

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
  // C is the width of the encoder's states; 0: there is no attention to a source, as in a language
  // model.
  DecoderLayer(std::int64_t D, std::int64_t C, const SelfAttentionOptions& options,
               const DropoutOptions& dropout);

  // The encoded source sentences, as the layer reads them.
  struct Source {
    torch::Tensor keys_and_values;  // [B, S, 2D], from source_keys_and_values()
    kernels::Padding padding;
  };
  // Computes the keys and values of encoder states [B, S, C] -> [B, S, 2D].
  torch::Tensor source_keys_and_values(const torch::Tensor& states);

  // Computes all positions at once. `rotation` is [T, d] or undefined, as in an encoder layer.
  // Stores the weights of each head of self-attention [B, H, T, T] in `self_heads`, unless it is
  // null.
  struct AllSteps {
    ResidualStream x;
    torch::Tensor weights;  // [B, T, S] attention to the source, mean over the heads; undefined
                            // unless wanted
  };
  AllSteps forward(const ResidualStream& x, const Source& source, const torch::Tensor& rotation,
                   bool want_weights, torch::Tensor* self_heads = nullptr);

  // The earlier positions of N hypotheses (kernels/multi_head.h).
  struct Past {
    torch::Tensor keys_and_values;  // of this layer, as DecoderState::pasts
    torch::Tensor rows;             // DecoderState::past_rows
    kernels::RowPositions positions;
    kernels::Padding padding;  // of the positions up to the current one, if they differ
    torch::Tensor rotation;  // of the current position [1, d], or of each row [N, d]; or undefined
  };
  // Returns the past without keys, values and rotation, for the rows of a state. `like` has N rows.
  static Past past_of(const DecoderState& state, const torch::Tensor& like);

  // Computes one position, with T = 1, for N = G · B rows, with G consecutive rows per sentence.
  struct Step {
    ResidualStream x;
    torch::Tensor past;  // [N, C, 2D] with the current position
    // Undefined unless wanted:
    torch::Tensor weights;  // [N, S] attention to the source, mean over the heads
    torch::Tensor heads;    // [N, H, S] attention of each head to the source
  };
  Step step(const ResidualStream& x, const Past& past, const Source& source, bool want_weights);

 private:
  std::shared_ptr<MultiHeadAttention> self_attention_;
  std::shared_ptr<Residual> self_attention_norm_;
  std::shared_ptr<MultiHeadAttention> source_attention_;
  std::shared_ptr<Residual> source_attention_norm_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Residual> feed_forward_norm_;
};

}  // namespace regard
