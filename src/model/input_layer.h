// The input of the first layer of an encoder or a decoder, from embedded tokens:
//
//   x_t = dropout(E[y_t])                       recurrent layers
//   x_t = dropout(sqrt(D) P E[y_t] + p_t)       Transformer layers (Vaswani et al. 2017, sections
//                                               3.4 and 3.5)
//
// In training with model.dropout.tokens, E[y_t] is 0 with that probability (word dropout, Iyyer et
// al. 2015; the token cut-off of Shen et al. 2020 removes a fixed share of the positions instead,
// in a second view of the sentence). E[y_t] is the embedding of token y_t and p_t the position
// embedding (transformer/positions.h) of width D, the width of the layers. P is the identity if
// embeddings have the width D too, as in the paper, and otherwise a trained matrix (as in ALBERT,
// Lan et al. 2020).
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "config/model_options.h"
#include "model/layers.h"
#include "model/seq2seq.h"
#include "model/transformer/positions.h"

namespace regard {

class InputLayer : public torch::nn::Module {
 public:
  // `embedding_dim` is the width of E[y_t] and `width` is D, which recurrent layers do not read.
  // `section` is the configuration section of `options`, such as "model.encoder", for
  // messages. PositionKind::automatic means sinusoidal here.
  InputLayer(LayerKind kind, std::int64_t embedding_dim, std::int64_t width,
             SelfAttentionOptions options, const DropoutOptions& dropout,
             const std::string& section);

  // Returns x for embedded tokens `whole` [B, T, E] at positions 0 … T − 1. Throws InputError
  // beyond the last learned position.
  torch::Tensor forward(const torch::Tensor& whole);
  // Returns x of one step, for the last tokens `whole` [N, E] of the hypotheses, each at the
  // position of its row. Throws as above.
  torch::Tensor step(const torch::Tensor& whole, const DecoderState& state);

 private:
  // Returns the embeddings of the tokens that are not cut off.
  torch::Tensor cut_off(const torch::Tensor& embedded) const;
  // Returns sqrt(D) P E[y_t]. Needs positions_.
  torch::Tensor scaled(const torch::Tensor& embedded);

  double scale_ = 1;
  double token_dropout_;
  Linear projection_{nullptr};            // P, if it is not the identity
  std::shared_ptr<Positions> positions_;  // null for recurrent layers
  std::shared_ptr<Dropout> dropout_;
};

// Returns the input layer of a side: EncoderOptions or DecoderOptions.
template <typename Side>
std::shared_ptr<InputLayer> make_input(const Side& o, const DropoutOptions& dropout,
                                       const std::string& section) {
  const auto kind =
      o.kind == decltype(o.kind)::transformer ? LayerKind::transformer : LayerKind::recurrent;
  return std::make_shared<InputLayer>(kind, o.embedding_dim, o.hidden_size, o.self_attention,
                                      dropout, section);
}

}  // namespace regard
