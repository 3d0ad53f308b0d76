// The simple recurrent network (Elman 1990): s' = tanh(W x + U s + b).
#pragma once

#include "kernels/functions.h"
#include "kernels/linear.h"
#include "model/rnn/cell.h"

namespace regard {

class TanhCell : public SteppedCell {
 public:
  TanhCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size)
      : SteppedCell(G, input_size, hidden_size, 1) {}

 protected:
  torch::Tensor advance(const torch::Tensor& projected, const torch::Tensor& state) override {
    return kernels::tanh(kernels::linear_each(projected, state, U_));
  }
};

}  // namespace regard
