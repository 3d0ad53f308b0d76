#include "model/attention/coverage.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>

#include "tests/model/attention/plain_numbers.h"
#include "tests/model/attention/sentences.h"

namespace regard::coverage_reference_test {
namespace {

TEST(CoverageReference, ThreeStepsFollowTheEquationsAndChargeForRepetition) {
  torch::manual_seed(4);
  auto options = options_of("coverage");
  options.fertility = 1.5;
  options.coverage_loss = 0.7;
  Coverage coverage(D, C, options);
  coverage.to(torch::kDouble);
  const auto p = coverage.named_parameters();
  const auto bias = numbers(p["additive.U.bias"]);
  const auto v = numbers(p["additive.v"]);
  const auto w = numbers(p["w"]);
  const Sentences s;
  const auto encoded = s.encoded(coverage);
  auto state = coverage.initial_state(encoded);
  std::vector<Numbers> covered(B, Numbers(S, 0));
  std::vector<Numbers> looked(B, Numbers(S, 0));
  for (int t = 0; t < 3; ++t) {
    const auto query = s.query * (1 + t);
    const auto step = coverage.step(query, state, encoded);
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = s.mask[b].sum().item<std::int64_t>();
      auto& C_t = covered[static_cast<std::size_t>(b)];
      auto& before = looked[static_cast<std::size_t>(b)];
      const auto Ws = product(p["additive.W.weight"], numbers(query[b]));
      Numbers e;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto Uh = product(p["additive.U.weight"], numbers(s.states[b][i]));
        double sum = 0;
        for (std::size_t a = 0; a < v.size(); ++a) {
          sum += v[a] * std::tanh(Ws[a] + Uh[a] + bias[a] + w[a] * C_t[i]);
        }
        e.push_back(sum);
      }
      const auto alpha = softmax(e);
      double penalty = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(step.weights[b][i].item<double>(), alpha[i], 1e-12);
        penalty += 0.7 * std::min(alpha[i], before[i]);
        before[i] += alpha[i];
        const auto phi =
            1.5 * sigmoid(dot(numbers(p["fertility.weight"][0]), numbers(s.states[b][i])) +
                          p["fertility.bias"].item<double>());
        C_t[i] += alpha[i] / phi;
      }
      EXPECT_NEAR(step.loss.penalty[b].item<double>(), penalty, 1e-12);
    }
    state = step.state;
  }
  coverage.eval();
  EXPECT_FALSE(coverage.step(s.query, state, encoded).loss.penalty.defined());
}

}  // namespace
}  // namespace regard::coverage_reference_test
