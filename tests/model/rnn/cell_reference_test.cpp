#include "model/rnn/cell.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/rnn.h>
#include <torch/utils.h>

#include <cmath>

namespace regard::cell_reference_test {
namespace {

constexpr std::int64_t G = 2, T = 3, B = 2, I = 3, D = 4;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// Number by number: an LSTM's or a simple cell's states over T steps, of cell g and sentence b.
torch::Tensor by_hand(CellKind kind, const Cell& cell, const torch::Tensor& x, std::int64_t g,
                      std::int64_t b) {
  const auto p = cell.named_parameters();
  const auto K = kind == CellKind::lstm ? 4 : 1;
  std::vector<double> h(D, 0);
  std::vector<double> c(D, 0);
  auto states = torch::zeros({T, D}, torch::kDouble);
  for (std::int64_t t = 0; t < T; ++t) {
    std::vector<double> gates(static_cast<std::size_t>(K * D));
    for (std::int64_t k = 0; k < K * D; ++k) {
      auto sum = p["b"][g][0][k].item<double>();
      for (std::int64_t i = 0; i < I; ++i) {
        sum += x[g][t][b][i].item<double>() * p["W"][g][i][k].item<double>();
      }
      for (std::int64_t i = 0; i < D; ++i) {
        sum += h[static_cast<std::size_t>(i)] * p["U"][g][i][k].item<double>();
      }
      gates[static_cast<std::size_t>(k)] = sum;
    }
    for (std::size_t d = 0; d < D; ++d) {
      if (kind == CellKind::lstm) {
        c[d] = sigmoid(gates[D + d]) * c[d] + sigmoid(gates[d]) * std::tanh(gates[3 * D + d]);
        h[d] = sigmoid(gates[2 * D + d]) * std::tanh(c[d]);
      } else {
        h[d] = std::tanh(gates[d]);
      }
      states[t][static_cast<std::int64_t>(d)] = h[d];
    }
  }
  return states;
}

class CellReference : public testing::TestWithParam<CellKind> {};

TEST_P(CellReference, ASequenceFollowsTheEquationsAndIsStepAfterStep) {
  torch::manual_seed(2);
  for (const std::int64_t cells : {G, std::int64_t{1}}) {
    const auto cell = std::make_shared<Cell>(GetParam(), cells, I, D, ResetGate::before);
    cell->to(torch::kDouble);
    const auto x = torch::randn({cells, T, B, I}, torch::kDouble);
    const auto projected = cell->project(x.view({cells, T * B, I})).view({cells, T, B, -1});
    ASSERT_EQ(projected.size(3), cell->gates_size());
    auto state = torch::zeros({cells, B, cell->state_size()}, torch::kDouble);
    const auto states = cell->sequence(projected, state);
    for (std::int64_t g = 0; g < cells; ++g) {
      for (std::int64_t b = 0; b < B; ++b) {
        EXPECT_TRUE(torch::allclose(states[g].select(1, b), by_hand(GetParam(), *cell, x, g, b),
                                    1e-12, 1e-12));
      }
    }
    if (cells > 1) continue;
    auto one = state[0];
    for (std::int64_t t = 0; t < T; ++t) {
      one = cell->step(projected[0][t], one);
      EXPECT_TRUE(torch::allclose(cell->hidden_output(one), states[0][t], 1e-12, 1e-12));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellReference, testing::Values(CellKind::lstm, CellKind::tanh),
                         [](const auto& tested) {
                           return tested.param == CellKind::lstm ? "Lstm" : "Tanh";
                         });

TEST(LstmReference, EqualsLibTorchs) {
  torch::manual_seed(3);
  const auto cell = std::make_shared<Cell>(CellKind::lstm, 1, I, D, ResetGate::before);
  torch::nn::LSTM theirs(torch::nn::LSTMOptions(I, D));
  // Theirs go i, f, c̃, o.
  const auto reordered = [](const torch::Tensor& x) {
    const auto gates = x.chunk(4, 0);
    return torch::cat({gates[0], gates[1], gates[3], gates[2]}, 0);
  };
  {
    const torch::NoGradGuard guard;
    auto p = theirs->named_parameters();
    const auto ours = cell->named_parameters();
    p["weight_ih_l0"].copy_(reordered(ours["W"][0].t()));
    p["weight_hh_l0"].copy_(reordered(ours["U"][0].t()));
    p["bias_ih_l0"].copy_(reordered(ours["b"][0][0]));
    p["bias_hh_l0"].zero_();
  }
  const auto x = torch::randn({T, B, I});
  const auto states = cell->sequence(cell->project(x.view({1, T * B, I})).view({1, T, B, -1}),
                                     torch::zeros({1, B, 2 * D}));
  EXPECT_TRUE(torch::allclose(states[0], std::get<0>(theirs->forward(x)), 1e-5, 1e-6));
  EXPECT_TRUE(cell->named_parameters()["b"].narrow(2, D, D).eq(1).all().item<bool>());
}

}  // namespace
}  // namespace regard::cell_reference_test
