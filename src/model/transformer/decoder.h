// The Transformer's decoder (Vaswani et al. 2017), over embedded tokens with positions.
//
// Training computes all steps at once under a causal mask. In decoding, the state holds the keys
// and values of earlier steps, and a step appends its own; keys and values of the source are
// computed once per sentence and shared by its hypotheses. The attention weights are those of the
// last layer to the source, the mean over its heads. The readout is the state of the top layer, D
// wide.
#pragma once

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/layers.h"
#include "model/transformer/layers.h"

namespace regard {

class TransformerDecoder : public Decoder {
 public:
  // state_size is the encoder's width C. forward() returns attention weights only if want_weights:
  // fused attention computes none.
  TransformerDecoder(std::int64_t state_size, const DecoderOptions& options,
                     const DropoutOptions& dropout, bool want_weights);

  void prepare(EncoderOutput& encoded) override;
  DecoderState initial_state(const EncoderOutput& encoded) override;
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                   const EncoderOutput& encoded) override;
  // Returns the heads of each layer.
  AttentionDetail explain(const torch::Tensor& embedded, const DecoderState& state,
                          const EncoderOutput& encoded) override;
  DecoderOutput forward(const torch::Tensor& embedded, const EncoderOutput& encoded) override;
  bool has_attention_weights() const override { return true; }
  std::int64_t readout_size() const override { return D_; }

 private:
  torch::Tensor normalised(const torch::Tensor& x) const;
  // step(); also stores the heads of every layer in `detail` if not null.
  DecoderStep step_through(const torch::Tensor& embedded, const DecoderState& state,
                           const EncoderOutput& encoded, AttentionDetail* detail);

  std::int64_t D_;
  bool want_weights_;
  std::vector<std::shared_ptr<DecoderLayer>> layers_;
  std::shared_ptr<LayerNorm> norm_;  // for layers with normalisation before their sublayers
  std::shared_ptr<Dropout> readout_dropout_;
};

}  // namespace regard
