// The head of a masked language model (Devlin et al. 2019), in the place of a decoder. It predicts
// the token at a masked position i from the encoder state h_i alone:
//
//   readout_i = norm(gelu(W h_i + b))      P(x_i | other tokens) = softmax(E readout_i + b_o)
//
// E is the source embedding. norm is a layer normalisation, and gelu(x) = x Φ(x) with the normal
// distribution function Φ (Hendrycks and Gimpel 2016).
#pragma once

#include "model/decoder.h"
#include "model/layers.h"

namespace regard {

class MaskedHead : public Decoder {
 public:
  // C is the width of the encoder states, R that of the source embedding.
  MaskedHead(std::int64_t C, std::int64_t R);

  void prepare(EncoderOutput& /*encoded*/) override {}
  // `positions` [B, T] int64 takes the place of embedded target tokens: the masked positions of
  // each sentence, then any position. The readout is [B, T, R].
  DecoderOutput forward(const torch::Tensor& positions, const EncoderOutput& encoded,
                        bool want_weights = false) override;
  // Throw std::logic_error: there is no search.
  DecoderState initial_state(const EncoderOutput& encoded) override;
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                   const EncoderOutput& encoded) override;
  bool has_attention_weights() const override { return false; }
  std::int64_t readout_size() const override { return readout_size_; }

 private:
  std::int64_t readout_size_;
  Linear W_;  // [R, C]
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace regard
