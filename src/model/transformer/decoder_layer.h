// A layer of the Transformer's decoder (Vaswani et al. 2017, section 3.1): self-attention to the
// positions so far, attention to the source, the feed-forward network, each with a residual and
// layer normalisation.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/transformer/feed_forward.h"
#include "model/transformer/multi_head_attention.h"
#include "model/transformer/residual.h"

namespace regard {

class DecoderLayer : public torch::nn::Module {
 public:
  // C is the encoder's width.
  DecoderLayer(std::int64_t D, std::int64_t C, const SelfAttentionOptions& options,
               const DropoutOptions& dropout);

  // A batch of sources as this layer sees them.
  struct Source {
    torch::Tensor keys_and_values;  // [B, S, 2D], of source_keys()
    Padding padding;
  };
  torch::Tensor source_keys(const torch::Tensor& states);  // [B, S, C] -> [B, S, 2D]

  // All positions at once: x [B, T, D].
  struct AllSteps {
    torch::Tensor x;        // [B, T, D]
    torch::Tensor weights;  // [B, T, S] of the source, the mean over the heads; where wanted
  };
  AllSteps forward(const torch::Tensor& x, const Source& source, bool want_weights);

  // One position for N rows, N = G · B, G in a row for each sentence: x [N, 1, D] after `past`
  // [N, t, 2D], the keys and values of the positions before.
  struct Step {
    torch::Tensor x;        // [N, 1, D]
    torch::Tensor past;     // [N, t + 1, 2D]
    torch::Tensor weights;  // [N, S] of the source, the mean over the heads; where wanted
    torch::Tensor heads;    // [N, H, S] of the source; where wanted
  };
  Step step(const torch::Tensor& x, const torch::Tensor& past, const Source& source,
            bool want_weights);

 private:
  std::shared_ptr<MultiHeadAttention> self_attention_;
  std::shared_ptr<Residual> self_attention_norm_;
  std::shared_ptr<MultiHeadAttention> source_attention_;
  std::shared_ptr<Residual> source_attention_norm_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Residual> feed_forward_norm_;
};

}  // namespace regard
