// The interface of an encoder, which reads source sentences.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

#include "model/seq2seq.h"

namespace regard {

class Encoder : public torch::nn::Module {
 public:
  // embedded [B, S, E]; lengths [B] int64 on the CPU, all above 0. Leaves the context empty.
  virtual EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths) = 0;
  // The width C of a state.
  virtual std::int64_t state_size() const = 0;
};

}  // namespace regard
