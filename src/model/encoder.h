// Reads source sentences: what every encoder is to the rest of the model.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

namespace regard {

struct EncoderOutput {
  torch::Tensor states;  // h [B, S, C]; of no meaning at padding
  torch::Tensor mask;    // [B, S] bool, true at real positions
  torch::Tensor last;    // [B, C] the sentence as a whole, for what has but one vector of it
};

class Encoder : public torch::nn::Module {
 public:
  // embedded [B, S, E]; lengths [B] int64 on the CPU, none of them 0.
  virtual EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths) = 0;
  // The width C of a state.
  virtual std::int64_t state_size() const = 0;
};

}  // namespace regard
