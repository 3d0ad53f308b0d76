// The Transformer encoder (Vaswani et al. 2017): layers of self-attention over embedded tokens, or
// over the states of another encoder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/encoder.h"
#include "model/transformer/layers.h"
#include "model/transformer/positions.h"

namespace regard {

// The summary of a sentence is the mean of its states.
class TransformerEncoder : public Encoder {
 public:
  TransformerEncoder(std::int64_t D, std::int64_t layers, const SelfAttentionOptions& options,
                     const DropoutOptions& dropout);

  EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                        std::vector<torch::Tensor>* self_attention = nullptr) override;
  std::int64_t state_size() const override { return D_; }

 private:
  std::int64_t D_;
  std::shared_ptr<Positions> rotation_;  // null without rotary positions
  std::vector<std::shared_ptr<TransformerLayer>> layers_;
  std::shared_ptr<LayerNorm> norm_;  // with NormPlacement::pre only
};

// Transformer layers on top of another encoder, with position embeddings between them. The summary
// of a sentence is the mean of the states of the last layer.
class SelfAttentionEncoder : public Encoder {
 public:
  SelfAttentionEncoder(std::shared_ptr<Encoder> below, const EncoderOptions& options,
                       const DropoutOptions& dropout);

  EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                        std::vector<torch::Tensor>* self_attention = nullptr) override;
  std::int64_t state_size() const override { return top_->state_size(); }

 private:
  std::shared_ptr<Encoder> below_;
  std::shared_ptr<Positions> positions_;
  std::shared_ptr<TransformerEncoder> top_;
};

}  // namespace regard
