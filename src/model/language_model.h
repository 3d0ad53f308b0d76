// Models of one text: a language model and a masked language model.
#pragma once

#include <memory>
#include <optional>

#include "model/generator.h"
#include "model/layers.h"
#include "model/output/output_layer.h"
#include "model/source_encoder.h"

namespace regard {

// A decoder without a source: P(y) = Π_t P(y_t | y_<t).
class LanguageModel : public Generator {
 public:
  LanguageModel(std::int64_t vocabulary, const ModelOptions& options);

  // Returns one position without numbers for each sentence: only the number of sentences is read.
  EncoderOutput encode(const SourceBatch& source) override;
  SelfAttention self_attention(const SourceBatch& source, const torch::Tensor& input) override;
};

// A masked language model (Devlin et al. 2019): an encoder and a head that predicts the token at a
// masked position i from the encoder state h_i alone:
//
//   readout_i = norm(gelu(W h_i + b))      P(x_i | other tokens) = softmax(E readout_i + b_o)
//
// E is the source embedding. norm is a layer normalisation, and gelu(x) = x Φ(x) with the normal
// distribution function Φ (Hendrycks and Gimpel 2016).
class MaskedLanguageModel : public Seq2Seq {
 public:
  MaskedLanguageModel(std::int64_t vocabulary, const ModelOptions& options);

  EncoderOutput encode(const SourceBatch& source) override;
  // `positions` [B, T] int64 takes the place of target tokens: the masked positions of each
  // sentence, then any position. The readout is [B, T, R], where R is the width of the embedding.
  DecoderOutput decode(const torch::Tensor& positions, const EncoderOutput& encoded,
                       bool want_weights = false) override;
  SelfAttention self_attention(const SourceBatch& source, const torch::Tensor& input) override;
  std::optional<LengthLimit> source_limit() const override { return source_limit_; }
  OutputLayer& output_layer() override { return *output_layer_; }

  // Throw std::logic_error: there is no search.
  DecoderState initial_state(const EncoderOutput& encoded) override;
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded, bool want_weights = true) override;

 private:
  struct Head : torch::nn::Module {  // C is the width of the encoder states
    Head(std::int64_t C, std::int64_t R);
    Linear W{nullptr};  // [R, C]
    std::shared_ptr<LayerNorm> norm;
  };

  SourceEncoder source_;
  std::shared_ptr<Head> head_;
  std::unique_ptr<OutputLayer> output_layer_;
  std::optional<LengthLimit> source_limit_;
};

}  // namespace regard
