#include "model/attention/monotonic.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>

#include "model/random_stream.h"
#include "tests/gradcheck.h"
#include "tests/model/attention/plain_numbers.h"
#include "tests/model/attention/sentences.h"

namespace regard::monotonic_reference_test {
namespace {

Monotonic make_monotonic() {
  torch::manual_seed(4);
  Monotonic monotonic(D, C, options_of("monotonic"));
  monotonic.to(torch::kDouble);
  return monotonic;
}

// The noise that the next step will add to its scores.
torch::Tensor noise(std::uint64_t stream) {
  const RandomStream random(1, stream);
  const auto options = torch::TensorOptions(torch::kDouble);
  const auto radius = (-2 * RandomStream::uniform(B * S, options).log()).sqrt();
  const auto angle = 2 * M_PI * RandomStream::uniform(B * S, options);
  return (radius * angle.cos()).view({B, S});
}

TEST(MonotonicReference, TrainingFollowsTheRecurrenceFromStepToStep) {
  auto monotonic = make_monotonic();
  const Sentences s;
  const auto encoded = s.encoded(monotonic);
  auto state = monotonic.initial_state(encoded);
  std::vector<Numbers> before(B, Numbers(S, 0));
  for (auto& alpha : before) alpha[0] = 1;
  for (std::uint64_t t = 0; t < 3; ++t) {
    const auto query = s.query * (1 + static_cast<double>(t));
    const auto e = monotonic.explain(query, state, encoded).scores + noise(t);
    const RandomStream random(1, t);
    const auto step = monotonic.step(query, state, encoded);
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = s.mask[b].sum().item<std::int64_t>();
      auto& alpha = before[static_cast<std::size_t>(b)];
      double q = 0;
      double p = 0;
      for (std::int64_t i = 0; i < S; ++i) {
        q = (1 - p) * q + alpha[static_cast<std::size_t>(i)];
        p = sigmoid(e[b][i].item<double>());
        alpha[static_cast<std::size_t>(i)] = i < n ? p * q : 0;
        EXPECT_NEAR(step.weights[b][i].item<double>(), alpha[static_cast<std::size_t>(i)], 1e-12);
      }
    }
    state = step.state;
  }
}

TEST(MonotonicReference, DecodingStopsAtTheFirstPositionThatWantsItAndNeverGoesBack) {
  auto monotonic = make_monotonic();
  monotonic.eval();
  {
    const torch::NoGradGuard guard;
    monotonic.named_parameters()["r"].zero_();  // stops about every other time
  }
  const Sentences s;
  const auto encoded = s.encoded(monotonic);
  auto state = monotonic.initial_state(encoded);
  std::vector<std::int64_t> last(B, 0);
  std::int64_t read = 0;
  for (int t = 0; t < 6; ++t) {
    const auto query = torch::randn({B, D}, torch::kDouble) * 3;
    const auto e = monotonic.explain(query, state, encoded).scores;
    const auto step = monotonic.step(query, state, encoded);
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = s.mask[b].sum().item<std::int64_t>();
      auto& from = last[static_cast<std::size_t>(b)];
      auto expected = torch::zeros({S}, torch::kDouble);
      for (auto i = from; i < n; ++i) {
        if (e[b][i].item<double>() < 0) continue;
        expected[i] = 1;
        from = i;
        ++read;
        break;
      }
      EXPECT_TRUE(torch::equal(step.weights[b], expected));
    }
    state = step.state;
  }
  EXPECT_GT(read, 3);
}

TEST(MonotonicReference, GradientsOfTrainingEqualCentralDifferences) {
  auto monotonic = make_monotonic();
  Sentences s;
  s.states.requires_grad_();
  auto tensors = named_tensors(monotonic);
  tensors.emplace_back("states", s.states);
  const auto along = torch::randn({2, B, S}, torch::kDouble);
  expect_gradients_match(
      [&] {
        const RandomStream random(1, 1);
        const auto encoded = s.encoded(monotonic);
        const auto one = monotonic.step(s.query, monotonic.initial_state(encoded), encoded);
        const auto two = monotonic.step(s.query * 2, one.state, encoded);
        return (one.weights * along[0] + two.weights * along[1]).sum();
      },
      tensors);
}

}  // namespace
}  // namespace regard::monotonic_reference_test
