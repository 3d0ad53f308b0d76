// The Transformer's decoder (Vaswani et al. 2017), over embedded tokens that carry their positions.
//
// In training all steps are made at once under a causal mask. In decoding a step adds its keys and
// values to those of the steps before, which are the state; keys and values of the source are made
// once a sentence and shared by its hypotheses. The weights that are shown are the last layer's
// attention to the source, the mean over its heads. The readout is the top layer's state, D wide.
#pragma once

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/dropout.h"
#include "model/transformer/decoder_layer.h"

namespace regard {

class TransformerDecoder : public Decoder {
 public:
  // state_size is the encoder's width C. In training there are weights only where wanted: fused
  // attention keeps none.
  TransformerDecoder(std::int64_t state_size, const DecoderOptions& options,
                     const DropoutOptions& dropout, bool want_weights);

  void prepare(Memory& memory) override;
  DecoderState start(const Memory& memory) override;
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                   const Memory& memory) override;
  // Each layer's heads.
  AttentionDetail explain(const torch::Tensor& embedded, const DecoderState& state,
                          const Memory& memory) override;
  Decoded forward(const torch::Tensor& embedded, const Memory& memory) override;
  bool shows_attention() const override { return true; }
  std::int64_t readout_size() const override { return D_; }

 private:
  torch::Tensor normalised(const torch::Tensor& x) const;
  // step(), which leaves every layer's heads in `detail` where one is given.
  DecoderStep step_through(const torch::Tensor& embedded, const DecoderState& state,
                           const Memory& memory, AttentionDetail* detail);

  std::int64_t D_;
  bool want_weights_;
  std::vector<std::shared_ptr<DecoderLayer>> layers_;
  std::shared_ptr<LayerNorm> norm_;  // where layers normalise before, and not after
  std::shared_ptr<Dropout> readout_dropout_;
};

}  // namespace regard
