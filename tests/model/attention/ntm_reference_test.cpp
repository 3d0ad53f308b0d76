#include "model/attention/ntm.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/model/attention/plain_numbers.h"
#include "tests/model/attention/sentences.h"

namespace regard::ntm_reference_test {
namespace {

double cosine(const Numbers& a, const Numbers& b) {
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

double softplus(double x) {
  return std::log1p(std::exp(x));
}

// Equations 6 to 9 for one sentence of n positions with content scores e, one position at a time.
Numbers addressed(const Numbers& e, double g, const Numbers& s, double gamma,
                  const Numbers& before) {
  const auto n = static_cast<int>(e.size());
  const auto K = static_cast<int>(s.size() / 2);
  auto gated = softmax(e);
  for (int i = 0; i < n; ++i) {
    gated[i] = g * gated[i] + (1 - g) * before[static_cast<std::size_t>(i)];
  }
  Numbers sharpened;
  for (int i = 0; i < n; ++i) {
    double moved = 0;
    for (int j = -K; j <= K; ++j) moved += gated[(i - j + 4 * n) % n] * s[j + K];
    sharpened.push_back(std::pow(moved, gamma));
  }
  const auto total = std::accumulate(sharpened.begin(), sharpened.end(), 0.0);
  for (auto& weight : sharpened) weight /= total;
  return sharpened;
}

// Equations 5 to 9.
Numbers addressed(const Ntm& ntm, const Numbers& q, const std::vector<Numbers>& h,
                  const Numbers& before) {
  const auto p = ntm.named_parameters();
  const auto k = product(p["W_k.weight"], q);
  auto given = product(p["W.weight"], q);
  for (std::size_t i = 0; i < given.size(); ++i) given[i] += numbers(p["W.bias"])[i];
  Numbers e;
  for (const auto& state : h) e.push_back(softplus(given[0]) * cosine(k, state));
  const auto s = softmax(Numbers(given.begin() + 3, given.end()));
  return addressed(e, sigmoid(given[1]), s, 1 + softplus(given[2]), before);
}

TEST(NtmReference, ThreeStepsFollowTheEquations) {
  for (const int K : {0, 1, 2}) {
    torch::manual_seed(4);
    auto options = options_of("ntm");
    options.shift = K;
    Ntm ntm(D, C, options);
    ntm.to(torch::kDouble);
    const Sentences s;
    const auto encoded = s.encoded(ntm);
    auto state = ntm.initial_state(encoded);
    std::vector<Numbers> before(B, Numbers(S, 0));
    for (auto& weights : before) weights[0] = 1;
    for (int t = 0; t < 3; ++t) {
      const auto query = s.query * (1 + t);
      const auto step = ntm.step(query, state, encoded);
      for (std::int64_t b = 0; b < B; ++b) {
        std::vector<Numbers> h;
        for (std::int64_t i = 0; i < s.mask[b].sum().item<std::int64_t>(); ++i) {
          h.push_back(numbers(s.states[b][i]));
        }
        auto& weights = before[static_cast<std::size_t>(b)];
        weights = addressed(ntm, numbers(query[b]), h, weights);
        for (std::size_t i = 0; i < h.size(); ++i) {
          EXPECT_NEAR(step.weights[b][static_cast<std::int64_t>(i)].item<double>(), weights[i],
                      1e-12);
        }
      }
      state = step.state;
    }
  }
}

TEST(NtmReference, TheScoresAndNumbersThatItShowsLeadToTheWeights) {
  torch::manual_seed(4);
  Ntm ntm(D, C, options_of("ntm"));
  ntm.to(torch::kDouble);
  const Sentences sentences;
  const auto encoded = sentences.encoded(ntm);
  auto state = ntm.initial_state(encoded);
  for (int t = 0; t < 2; ++t) {
    const auto query = sentences.query * (1 + t);
    const auto detail = ntm.explain(query, state, encoded);
    std::map<std::string, torch::Tensor> shown;
    for (const auto& [name, rows] : detail.quantities) shown[name] = rows;
    const auto step = ntm.step(query, state, encoded);
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = sentences.mask[b].sum().item<std::int64_t>();
      const auto weights = addressed(numbers(detail.scores[b].slice(0, 0, n)),
                                     shown.at("g")[b].item<double>(), numbers(shown.at("s")[b]),
                                     shown.at("γ")[b].item<double>(), numbers(state[0][b]));
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(step.weights[b][i].item<double>(), weights[static_cast<std::size_t>(i)], 1e-12);
      }
    }
    state = step.state;
  }
}

TEST(NtmReference, AShiftGoesRoundTheSentenceAndNotThePadding) {
  auto options = options_of("ntm");
  Ntm ntm(D, C, options);
  ntm.to(torch::kDouble);
  {
    const torch::NoGradGuard guard;
    auto p = ntm.named_parameters();
    p["W.weight"].zero_();
    p["W.bias"].copy_(torch::tensor({1.0, -50.0, 0.0, -50.0, -50.0, 50.0}));  // one to the right
  }
  const Sentences s;
  const auto encoded = s.encoded(ntm);
  auto state = ntm.initial_state(encoded);
  for (std::int64_t t = 1; t <= 6; ++t) {
    const auto step = ntm.step(s.query, state, encoded);
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = s.mask[b].sum().item<std::int64_t>();
      EXPECT_NEAR(step.weights[b][t % n].item<double>(), 1, 1e-9) << t << " of " << n;
    }
    state = step.state;
  }
}

}  // namespace
}  // namespace regard::ntm_reference_test
