// The cells against their equations, number by number.
#include "model/rnn/cell.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <string>

#include "tests/model/attention/plain_numbers.h"

namespace regard::cell_reference_test {
namespace {

constexpr std::int64_t G = 2, T = 3, B = 2, I = 3, D = 4;

struct Tested {
  std::string name;
  CellKind kind;
  ResetGate reset = ResetGate::before;
};

// Returns the state of cell g after the input x [I] and a state [D], or [2 D] of an LSTM.
Numbers next_state(const Tested& tested, const Cell& cell, std::int64_t g, const Numbers& x,
                   const Numbers& state) {
  const auto p = cell.named_parameters();
  const auto input = [&](std::int64_t gate, std::int64_t d) {
    const auto k = gate * D + d;
    return p["b"][g][0][k].item<double>() + dot(numbers(p["W"][g].select(1, k)), x);
  };
  const auto recurrent = [&](std::int64_t gate, std::int64_t d, const Numbers& h) {
    return dot(numbers(p["U"][g].select(1, gate * D + d)), h);
  };
  const auto sum = [&](std::int64_t gate, std::int64_t d) {
    return input(gate, d) + recurrent(gate, d, state);
  };
  auto next = state, reset_state = state;
  for (std::int64_t d = 0; d < D; ++d) {
    const auto i = static_cast<std::size_t>(d);
    switch (tested.kind) {
      case CellKind::tanh:
        next[i] = std::tanh(sum(0, d));
        break;
      case CellKind::lstm:
        next[D + i] = sigmoid(sum(1, d)) * state[D + i] + sigmoid(sum(0, d)) * std::tanh(sum(3, d));
        next[i] = sigmoid(sum(2, d)) * std::tanh(next[D + i]);
        break;
      case CellKind::gru:
        reset_state[i] = sigmoid(sum(0, d)) * state[i];
        break;
    }
  }
  if (tested.kind != CellKind::gru) return next;
  for (std::int64_t d = 0; d < D; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const auto u =
        tested.reset == ResetGate::before
            ? recurrent(2, d, reset_state)
            : sigmoid(sum(0, d)) * (recurrent(2, d, state) + p["b_U"][g][0][d].item<double>());
    const auto z = sigmoid(sum(1, d));
    next[i] = z * state[i] + (1 - z) * std::tanh(input(2, d) + u);
  }
  return next;
}

class CellReference : public testing::TestWithParam<Tested> {};

TEST_P(CellReference, ASequenceFollowsTheEquationsAndIsStepAfterStep) {
  torch::manual_seed(2);
  for (const std::int64_t cells : {G, std::int64_t{1}}) {
    Cell cell(GetParam().kind, cells, I, D, GetParam().reset);
    cell.to(torch::kDouble);
    {
      const torch::NoGradGuard guard;
      for (auto& parameter : cell.parameters()) parameter.normal_(0, 0.5);
    }
    const auto x = torch::randn({cells, T, B, I}, torch::kDouble);
    const auto projected = cell.project(x.view({cells, T * B, I})).view({cells, T, B, -1});
    ASSERT_EQ(projected.size(3), cell.gates_size());
    const auto first = torch::randn({cells, B, cell.state_size()}, torch::kDouble);
    const auto outputs = cell.sequence(projected, first);
    for (std::int64_t g = 0; g < cells; ++g) {
      for (std::int64_t b = 0; b < B; ++b) {
        auto expected = numbers(first[g][b]);
        for (std::int64_t t = 0; t < T; ++t) {
          expected = next_state(GetParam(), cell, g, numbers(x[g][t][b]), expected);
          const auto found = numbers(outputs[g][t][b]);
          for (std::size_t d = 0; d < D; ++d) EXPECT_NEAR(found[d], expected[d], 1e-12);
        }
      }
    }
    if (cells > 1) continue;
    auto state = first[0];
    for (std::int64_t t = 0; t < T; ++t) {
      state = cell.step(projected[0][t], state);
      EXPECT_TRUE(torch::allclose(cell.hidden_output(state), outputs[0][t], 1e-12, 1e-12)) << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellReference,
                         testing::Values(Tested{"GruResetBefore", CellKind::gru},
                                         Tested{"GruResetAfter", CellKind::gru, ResetGate::after},
                                         Tested{"Lstm", CellKind::lstm},
                                         Tested{"Tanh", CellKind::tanh}),
                         [](const auto& tested) { return tested.param.name; });

TEST(LstmCell, TheForgetGateBeginsWithABiasOfOne) {
  const Cell cell(CellKind::lstm, 1, I, D, ResetGate::before);
  EXPECT_TRUE(cell.named_parameters()["b"].narrow(2, D, D).eq(1).all().item<bool>());
}

}  // namespace
}  // namespace regard::cell_reference_test
