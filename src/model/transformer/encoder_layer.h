// A layer of the Transformer's encoder (Vaswani et al. 2017, section 3.1): self-attention, then the
// feed-forward network, each with a residual and layer normalisation.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/transformer/feed_forward.h"
#include "model/transformer/multi_head_attention.h"
#include "model/transformer/residual.h"

namespace regard {

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

}  // namespace regard
