#include "model/rnn/cell.h"

#include <torch/utils.h>

#include <vector>

#include "kernels/deferred_weight_gradients.h"
#include "kernels/functions.h"
#include "kernels/linear.h"
#include "model/initialisation.h"

namespace regard {

Cell::Cell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, std::int64_t K)
    : D_(hidden_size) {
  const auto I = input_size;
  const auto D = hidden_size;
  W_ = register_parameter("W", torch::empty({G, I, K * D}));
  U_ = register_parameter("U", torch::empty({G, D, K * D}));
  b_ = register_parameter("b", torch::zeros({G, 1, K * D}));
  for (std::int64_t g = 0; g < G; ++g) {
    for (std::int64_t gate = 0; gate < K; ++gate) {
      xavier_uniform(W_[g].narrow(1, gate * D, D));
      orthogonal(U_[g].narrow(1, gate * D, D));
    }
  }
}

torch::Tensor Cell::project(const torch::Tensor& x) {
  return kernels::linear_each(b_, x, W_);
}

torch::Tensor SteppedCell::sequence(const torch::Tensor& projected, const torch::Tensor& state) {
  const kernels::DeferredWeightGradients deferred;
  std::vector<torch::Tensor> outputs;
  auto s = state;
  for (const auto& x : projected.unbind(1)) {
    s = advance(x, s);
    outputs.push_back(hidden_output(s));
  }
  return torch::stack(outputs, 1);  // [G, T, B, D]
}

torch::Tensor SteppedCell::step(const torch::Tensor& projected, const torch::Tensor& state) {
  return advance(projected.unsqueeze(0), state.unsqueeze(0))[0];
}

GruCell::GruCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, ResetGate reset)
    : Cell(G, input_size, hidden_size, 3) {
  if (reset == ResetGate::after) b_U_ = register_parameter("b_U", torch::zeros({G, 1, D_}));
}

torch::Tensor GruCell::b_U(std::int64_t g) const {
  return b_U_.defined() ? b_U_[g][0] : torch::Tensor();
}

torch::Tensor GruCell::step(const torch::Tensor& projected, const torch::Tensor& state) {
  return kernels::gru_step(projected, state, U_[0], b_U(0));
}

torch::Tensor GruCell::sequence(const torch::Tensor& projected, const torch::Tensor& state) {
  std::vector<torch::Tensor> states;
  for (std::int64_t g = 0; g < U_.size(0); ++g) {
    states.push_back(kernels::gru(projected[g], state[g], U_[g], b_U(g)).states);
  }
  return torch::stack(states);  // [G, T, B, D]
}

std::optional<kernels::GruSequence> GruCell::sequence_with_attention(
    const torch::Tensor& projected, const torch::Tensor& state,
    const kernels::GruAttention& attention) {
  return kernels::gru(projected, state, U_[0], b_U(0), attention);
}

LstmCell::LstmCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size)
    : SteppedCell(G, input_size, hidden_size, 4) {
  const torch::NoGradGuard guard;
  b_.narrow(2, D_, D_).fill_(1);
}

torch::Tensor LstmCell::advance(const torch::Tensor& projected, const torch::Tensor& state) {
  const auto gates = kernels::linear_each(projected, hidden_output(state), U_);  // [G, B, 4D]
  const auto open = kernels::sigmoid(gates.narrow(-1, 0, 3 * D_)).chunk(3, -1);  // i, f, o
  const auto candidate = kernels::tanh(gates.narrow(-1, 3 * D_, D_));
  const auto c = open[1] * state.narrow(-1, D_, D_) + open[0] * candidate;
  return torch::cat({open[2] * kernels::tanh(c), c}, -1);
}

torch::Tensor TanhCell::advance(const torch::Tensor& projected, const torch::Tensor& state) {
  return kernels::tanh(kernels::linear_each(projected, state, U_));
}

std::shared_ptr<Cell> make_cell(CellKind kind, std::int64_t G, std::int64_t input_size,
                                std::int64_t hidden_size, ResetGate reset) {
  switch (kind) {
    case CellKind::lstm:
      return std::make_shared<LstmCell>(G, input_size, hidden_size);
    case CellKind::tanh:
      return std::make_shared<TanhCell>(G, input_size, hidden_size);
    case CellKind::gru:
      break;
  }
  return std::make_shared<GruCell>(G, input_size, hidden_size, reset);
}

}  // namespace regard
