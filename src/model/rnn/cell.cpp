#include "model/rnn/cell.h"

#include <vector>

#include "kernels/late_gradients.h"
#include "kernels/linear.h"
#include "model/initialisation.h"
#include "model/rnn/gru.h"
#include "model/rnn/lstm.h"
#include "model/rnn/tanh_cell.h"

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
  const kernels::LateGradients late;
  std::vector<torch::Tensor> outputs;
  auto s = state;
  for (const auto& x : projected.unbind(1)) {
    s = advance(x, s);
    outputs.push_back(shown(s));
  }
  return torch::stack(outputs, 1);  // [G, T, B, D]
}

torch::Tensor SteppedCell::step(const torch::Tensor& projected, const torch::Tensor& state) {
  return advance(projected.unsqueeze(0), state.unsqueeze(0))[0];
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
