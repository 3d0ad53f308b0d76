// The layers of the Transformer (Vaswani et al. 2017, section 3.1) and their sublayers.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

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

// A layer of an encoder or a decoder: self-attention, attention to a source if there is one, and
// the feed-forward network, each with a residual connection and layer normalisation.
class TransformerLayer : public torch::nn::Module {
 public:
  // C is the width of the encoder's states; 0: there is no attention to a source, as in an encoder
  // or a language model. `self_attention` names the parameters of self-attention. If it is causal,
  // a position attends to no later one.
  TransformerLayer(std::int64_t D, std::int64_t C, const std::string& self_attention,
                   bool is_causal, const SelfAttentionOptions& options,
                   const DropoutOptions& dropout);

  // The encoded source sentences, as the layer reads them; empty without a source.
  struct Source {
    torch::Tensor keys_and_values;  // [B, S, 2D], from source_keys_and_values()
    kernels::Padding padding;
  };
  // Computes the keys and values of encoder states [B, S, C] -> [B, S, 2D].
  torch::Tensor source_keys_and_values(const torch::Tensor& states);

  struct Output {
    ResidualStream x;
    torch::Tensor past = {};  // of step(): [N, C, 2D] with the current position
    // Attention to the source, undefined unless wanted:
    torch::Tensor weights = {};  // mean over the heads: [B, T, S], of step() [N, S]
    torch::Tensor heads = {};    // of each head: [B, H, T, S], of step() [N, H, S]
  };

  // Computes all positions at once. `padding` is that of the positions, empty if self-attention is
  // causal. `rotation` has the sines and cosines of rotary positions [T, d] (make_rotation()), or
  // is undefined. Stores the weights of each head of self-attention [B, H, T, T] in `self_heads`,
  // unless it is null.
  Output forward(const ResidualStream& x, const kernels::Padding& padding, const Source& source,
                 const torch::Tensor& rotation, bool want_weights,
                 torch::Tensor* self_heads = nullptr);

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
  Output step(const ResidualStream& x, const Past& past, const Source& source, bool want_weights);

 private:
  // attend_to_itself(z) returns the self-attention of z [B, T, D], or [N, 1, D] in a step.
  template <typename SelfAttention>
  Output run(const ResidualStream& x, const SelfAttention& attend_to_itself, const Source& source,
             bool want_weights);

  bool is_causal_;
  std::shared_ptr<MultiHeadAttention> self_attention_;
  std::shared_ptr<Residual> self_attention_norm_;
  std::shared_ptr<MultiHeadAttention> source_attention_;  // null without a source
  std::shared_ptr<Residual> source_attention_norm_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Residual> feed_forward_norm_;
};

}  // namespace regard
