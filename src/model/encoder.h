// The interface of an encoder: maps embedded source tokens, or images, to states h_s.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "model/seq2seq.h"

namespace regard {

// Returns ceil(lengths / divisor) of lengths [B] int64.
inline torch::Tensor divide_up(const torch::Tensor& lengths, std::int64_t divisor) {
  return (lengths + (divisor - 1)).floor_divide(divisor);
}

class Encoder : public torch::nn::Module {
 public:
  // embedded is [B, S, E], or images (convolutional_encoder.h); lengths [B] is int64 on the CPU,
  // all above 0. The result may have another number of states than S, with lengths of their own,
  // and has an empty EncoderOutput::context, which Decoder::prepare() and OutputLayer::prepare()
  // fill. Appends the weights of each layer's self-attention (SelfAttention::encoder) to
  // `self_attention`, unless it is null.
  virtual EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                                std::vector<torch::Tensor>* self_attention = nullptr) = 0;
  // Returns the width C of a state.
  virtual std::int64_t state_size() const = 0;
};

}  // namespace regard
