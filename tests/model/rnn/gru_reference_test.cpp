#include "model/rnn/cell.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/rnn.h>
#include <torch/utils.h>

#include <cmath>

#include "tests/gradcheck.h"

namespace regard::gru_reference_test {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The equations of the GRU, one number at a time: x [I], s [D].
std::vector<double> scalar_step(const Cell& cell, std::int64_t g, const std::vector<double>& x,
                                const std::vector<double>& s, ResetGate reset) {
  const auto parameters = cell.named_parameters();
  const auto W = parameters["W"].detach();
  const auto U = parameters["U"].detach();
  const auto b = parameters["b"].detach();
  const auto D = static_cast<std::int64_t>(s.size());
  const auto affine = [&](std::int64_t gate, std::int64_t d) {
    double sum = b[g][0][gate * D + d].item<double>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += W[g][static_cast<std::int64_t>(i)][gate * D + d].item<double>() * x[i];
    }
    return sum;
  };
  const auto recurrent = [&](std::int64_t gate, std::int64_t d, const std::vector<double>& state) {
    double sum = 0;
    for (std::int64_t i = 0; i < D; ++i) {
      sum += U[g][i][gate * D + d].item<double>() * state[i];
    }
    return sum;
  };
  std::vector<double> r(D);
  std::vector<double> z(D);
  std::vector<double> reset_state(D);
  for (std::int64_t d = 0; d < D; ++d) {
    r[d] = sigmoid(affine(0, d) + recurrent(0, d, s));
    z[d] = sigmoid(affine(1, d) + recurrent(1, d, s));
    reset_state[d] = r[d] * s[d];
  }
  std::vector<double> next(D);
  for (std::int64_t d = 0; d < D; ++d) {
    const double u = reset == ResetGate::before
                         ? recurrent(2, d, reset_state)
                         : r[d] * (recurrent(2, d, s) + parameters["b_U"][g][0][d].item<double>());
    next[d] = z[d] * s[d] + (1 - z[d]) * std::tanh(affine(2, d) + u);
  }
  return next;
}

class GruReference : public testing::TestWithParam<ResetGate> {
 protected:
  void SetUp() override {
    torch::manual_seed(1);
    for (auto* cell : {&single_, &pair_}) {
      cell->to(torch::kDouble);
      const torch::NoGradGuard guard;
      for (auto& parameter : cell->parameters()) parameter.normal_(0, 0.5);
    }
  }
  Cell single_{CellKind::gru, 1, 3, 4, GetParam()};
  Cell pair_{CellKind::gru, 2, 3, 4, GetParam()};
};

TEST_P(GruReference, AStepEqualsTheEquationsNumberByNumber) {
  const auto x = torch::randn({2, 5, 3}, torch::kDouble);
  const auto s = torch::randn({2, 5, 4}, torch::kDouble);
  const auto of_pair = pair_.sequence(pair_.project(x).unsqueeze(1), s).squeeze(1);
  const auto of_single = single_.step(single_.project(x.narrow(0, 0, 1))[0], s[0]);
  const auto row = [](const torch::Tensor& t) {
    const auto* first = t.data_ptr<double>();
    return std::vector<double>(first, first + t.numel());
  };
  const auto expect_equal = [&](const torch::Tensor& next, const Cell& cell, std::int64_t g) {
    for (std::int64_t b = 0; b < 5; ++b) {
      const auto expected = scalar_step(cell, g, row(x[g][b]), row(s[g][b]), GetParam());
      for (std::int64_t d = 0; d < 4; ++d) {
        EXPECT_NEAR(next[b][d].item<double>(), expected[d], 1e-12);
      }
    }
  };
  expect_equal(of_single, single_, 0);
  expect_equal(of_pair[0], pair_, 0);
  expect_equal(of_pair[1], pair_, 1);
}

TEST_P(GruReference, GradientsOfAStepEqualCentralDifferences) {
  const auto x = torch::randn({1, 2, 3}, torch::kDouble).requires_grad_();
  const auto s = torch::randn({2, 4}, torch::kDouble).requires_grad_();
  const auto weight = torch::randn({2, 4}, torch::kDouble);
  auto tensors = named_tensors(single_);
  tensors.emplace_back("x", x);
  tensors.emplace_back("s", s);
  expect_gradients_match([&] { return (single_.step(single_.project(x)[0], s) * weight).sum(); },
                         tensors);
}

TEST_P(GruReference, ASequenceIsItsStepsInTurn) {
  const auto x = torch::randn({1, 6, 3, 12}, torch::kDouble);
  const auto states = single_.sequence(x, torch::zeros({1, 3, 4}, torch::kDouble))[0];
  auto s = torch::zeros({3, 4}, torch::kDouble);
  for (std::int64_t t = 0; t < 6; ++t) {
    s = single_.step(x[0][t], s);
    EXPECT_TRUE(torch::allclose(states[t], s, 1e-12, 1e-12)) << "step " << t;
  }
}

// With the reset gate after the product, LibTorch's own GRU computes the same.
TEST(GruCellAgainstLibTorch, ResetAfterEqualsTorchGru) {
  torch::manual_seed(2);
  Cell cell(CellKind::gru, 1, 3, 4, ResetGate::after);
  cell.to(torch::kDouble);
  torch::nn::GRU gru(torch::nn::GRUOptions(3, 4));
  gru->to(torch::kDouble);
  {
    const torch::NoGradGuard guard;
    auto own = cell.named_parameters();
    for (auto& parameter : cell.parameters()) parameter.normal_();
    auto theirs = gru->named_parameters();  // [3D, I], gates r, z, n; z keeps the old state too
    theirs["weight_ih_l0"].copy_(own["W"][0].t());
    theirs["weight_hh_l0"].copy_(own["U"][0].t());
    theirs["bias_ih_l0"].copy_(own["b"].flatten());
    theirs["bias_hh_l0"].zero_();
    theirs["bias_hh_l0"].slice(0, 8).copy_(own["b_U"].flatten());
  }
  const auto x = torch::randn({7, 5, 3}, torch::kDouble);
  const auto projected = cell.project(x.view({1, 35, 3})).view({1, 7, 5, 12});
  const auto states = cell.sequence(projected, torch::zeros({1, 5, 4}, torch::kDouble)).squeeze(0);
  EXPECT_TRUE(torch::allclose(states, std::get<0>(gru->forward(x)), 1e-12, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(BothResetGates, GruReference,
                         testing::Values(ResetGate::before, ResetGate::after),
                         [](const auto& tested) {
                           return std::string(
                               enum_names(tested.param)[static_cast<std::size_t>(tested.param)]);
                         });

}  // namespace
}  // namespace regard::gru_reference_test
