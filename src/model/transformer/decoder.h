// The Transformer decoder (Vaswani et al. 2017).
//
// forward() computes all steps of a given target at once with a causal mask. In a search, the state
// holds the keys and values of earlier steps, and each step appends its own. The keys and values of
// the source are computed once per sentence and shared by its hypotheses. The attention weights are
// those of the last layer's attention to the source, averaged over the heads. The readout [D] is
// the output of the last layer, normalised with NormPlacement::pre, with dropout.
#pragma once

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/layers.h"
#include "model/transformer/layers.h"
#include "model/transformer/positions.h"

namespace regard {

class TransformerDecoder : public Decoder {
 public:
  // encoder_state_size is C, the width of the encoder states; 0: there is no source. forward()
  // always returns attention weights if want_weights is true, otherwise only on request, because
  // fused attention does not compute them; step() the same.
  TransformerDecoder(std::int64_t encoder_state_size, const DecoderOptions& options,
                     const DropoutOptions& dropout, bool want_weights);

  void prepare(EncoderOutput& encoded) override;
  DecoderState initial_state(const EncoderOutput& encoded) override;
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                   const EncoderOutput& encoded, bool want_weights = true,
                   AttentionDetail* detail = nullptr) override;
  DecoderOutput forward(const torch::Tensor& embedded, const EncoderOutput& encoded,
                        bool want_weights = false,
                        std::vector<torch::Tensor>* self_attention = nullptr) override;
  bool has_attention_weights() const override { return has_source_; }
  std::int64_t readout_size() const override { return D_; }

 private:
  std::int64_t D_;
  bool has_source_;
  bool want_weights_;
  std::shared_ptr<Positions> rotation_;  // null without rotary positions
  std::vector<std::shared_ptr<TransformerLayer>> layers_;
  std::shared_ptr<LayerNorm> norm_;  // with NormPlacement::pre only
  std::shared_ptr<Dropout> readout_dropout_;
};

}  // namespace regard
