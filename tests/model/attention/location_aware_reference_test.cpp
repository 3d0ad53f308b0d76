#include "model/attention/location_aware.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "base/error.h"
#include "tests/model/attention/plain_numbers.h"
#include "tests/model/attention/sentences.h"

namespace regard::location_aware_reference_test {
namespace {

AttentionOptions options_with(std::int64_t filter_width) {
  auto options = options_of("location_aware");
  options.filters = 2;
  options.filter_width = filter_width;
  return options;
}

// Wider than the longest sentence in the last case.
TEST(LocationAwareReference, ThreeStepsFollowTheEquations) {
  for (const std::int64_t width : {1, 3, 13}) {
    torch::manual_seed(4);
    LocationAware attention(D, C, options_with(width));
    attention.to(torch::kDouble);
    const auto p = attention.named_parameters();
    const auto bias = numbers(p["additive.U.bias"]);
    const auto v = numbers(p["additive.v"]);
    const Sentences s;
    const auto encoded = s.encoded(attention);
    auto state = attention.initial_state(encoded);
    std::vector<Numbers> before(B, Numbers(S, 0));
    for (auto& alpha : before) alpha[0] = 1;
    for (int t = 0; t < 3; ++t) {
      const auto query = s.query * (1 + t);
      const auto scores = attention.explain(query, state, encoded).scores;
      const auto step = attention.step(query, state, encoded);
      for (std::int64_t b = 0; b < B; ++b) {
        const auto n = s.mask[b].sum().item<std::int64_t>();
        auto& alpha = before[static_cast<std::size_t>(b)];
        const auto Ws = product(p["additive.W.weight"], numbers(query[b]));
        Numbers e;
        for (std::int64_t i = 0; i < n; ++i) {
          Numbers around;
          for (auto j = i - width / 2; j <= i + width / 2; ++j) {
            around.push_back(j < 0 || j >= n ? 0 : alpha[static_cast<std::size_t>(j)]);
          }
          const auto Uf = product(p["U.weight"], product(p["F.weight"], around));
          const auto Vh = product(p["additive.U.weight"], numbers(s.states[b][i]));
          double sum = 0;
          for (std::size_t a = 0; a < v.size(); ++a) {
            sum += v[a] * std::tanh(Ws[a] + Vh[a] + bias[a] + Uf[a]);
          }
          EXPECT_NEAR(scores[b][i].item<double>(), sum, 1e-12);
          e.push_back(sum);
        }
        const auto weights = softmax(e);
        for (std::int64_t i = 0; i < n; ++i) {
          alpha[static_cast<std::size_t>(i)] = weights[static_cast<std::size_t>(i)];
          EXPECT_NEAR(step.weights[b][i].item<double>(), weights[static_cast<std::size_t>(i)],
                      1e-12);
        }
      }
      state = step.state;
    }
  }
}

TEST(LocationAwareReference, AFilterNeedsACentre) {
  EXPECT_THROW(LocationAware(D, C, options_with(4)), ConfigError);
}

}  // namespace
}  // namespace regard::location_aware_reference_test
