// Dropout, drawn from a stream of its own that training sets for each share of each step: the mask
// does not depend on what other threads draw, and a resumed run needs no generator's state.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "base/random.h"

namespace regard {

// While it lives, this thread's dropout draws its masks from this stream.
class DropoutStream {
 public:
  DropoutStream(std::uint64_t seed, std::uint64_t stream);
  ~DropoutStream();
  DropoutStream(const DropoutStream&) = delete;
  DropoutStream& operator=(const DropoutStream&) = delete;

 private:
  Random before_;
};

// Scales what it keeps by 1 / (1 − p) in training, does nothing in evaluation.
class Dropout : public torch::nn::Module {
 public:
  explicit Dropout(double p) : p_(p) {}
  torch::Tensor forward(const torch::Tensor& x) const;

 private:
  double p_;
};

}  // namespace regard
