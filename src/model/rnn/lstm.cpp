#include "model/rnn/lstm.h"

#include <torch/utils.h>

#include "kernels/functions.h"
#include "kernels/linear.h"

namespace regard {

LstmCell::LstmCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size)
    : SteppedCell(G, input_size, hidden_size, 4) {
  const torch::NoGradGuard guard;
  b_.narrow(2, D_, D_).fill_(1);
}

torch::Tensor LstmCell::advance(const torch::Tensor& projected, const torch::Tensor& state) {
  const auto gates = kernels::linear_each(projected, shown(state), U_);  // [G, B, 4D]
  const auto open = kernels::sigmoid(gates.narrow(-1, 0, 3 * D_)).chunk(3, -1);
  const auto candidate = kernels::tanh(gates.narrow(-1, 3 * D_, D_));
  const auto c = open[1] * state.narrow(-1, D_, D_) + open[0] * candidate;
  return torch::cat({open[2] * kernels::tanh(c), c}, -1);
}

}  // namespace regard
