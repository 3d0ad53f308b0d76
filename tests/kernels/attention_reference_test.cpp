#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "tests/gradcheck.h"

namespace regard::kernels::kernels_attention_reference_test {
namespace {

constexpr std::int64_t B = 3, G = 2, S = 7, A = 5;

class AttentionReference : public testing::TestWithParam<ScoreForm> {
 protected:
  AttentionReference() { torch::manual_seed(1); }
  ~AttentionReference() override { use_reference(false); }

  static torch::Tensor draw(at::IntArrayRef sizes) {
    return torch::randn(sizes, torch::kDouble).requires_grad_();
  }
  AttentionScore score(const torch::Tensor& windows = {}) const {
    AttentionScore score{.form = GetParam(), .scale = 0.7, .keys = keys_, .lengths = lengths_};
    if (GetParam() == ScoreForm::additive) score.v = v_;
    if (GetParam() == ScoreForm::additive || GetParam() == ScoreForm::position) score.W = W_;
    if (GetParam() == ScoreForm::position) score.keys = torch::empty({B, S, 0}, torch::kDouble);
    score.windows = windows;
    return score;
  }
  // α, and the gradients of what goes into it.
  std::vector<torch::Tensor> all(const torch::Tensor& windows, bool reference) {
    use_reference(reference);
    for (const auto& x : {states_, W_, v_, keys_}) x.mutable_grad() = torch::Tensor();
    const auto alpha = attention_weights(score(windows), states_);
    (alpha * towards_).sum().backward();
    std::vector<torch::Tensor> found = {alpha.detach()};
    for (const auto& x : {states_, W_, v_, keys_}) found.push_back(x.grad());
    return found;
  }
  void expect_kernel_equals_reference(const torch::Tensor& windows) {
    expect_all_close(all(windows, false), all(windows, true), 1e-10);
  }

  torch::Tensor lengths_ = torch::tensor({7, 4, 1});
  torch::Tensor states_ = draw({B * G, A});
  torch::Tensor W_ = draw({GetParam() == ScoreForm::position ? S : A, A});
  torch::Tensor v_ = draw({A});
  torch::Tensor keys_ = draw({B, S, A});
  torch::Tensor towards_ = torch::randn({B * G, S}, torch::kDouble);
  // The window of each query; the last sentence has one position.
  torch::Tensor windows_ = torch::tensor({{0, 3}, {5, 7}, {1, 4}, {3, 4}, {0, 1}, {0, 1}});
};

TEST_P(AttentionReference, WeightsAndGradientsEqualTheReference) {
  expect_kernel_equals_reference({});
}

TEST_P(AttentionReference, SoTheyDoInWindows) {
  expect_kernel_equals_reference(windows_);
}

TEST_P(AttentionReference, WeightsAreExactlyZeroOutsideTheWindowAndSumToOneInside) {
  for (const bool reference : {false, true}) {
    const auto alpha = all(windows_, reference)[0];
    for (std::int64_t n = 0; n < B * G; ++n) {
      const auto begin = windows_[n][0].item<std::int64_t>();
      const auto end = windows_[n][1].item<std::int64_t>();
      EXPECT_NEAR(alpha[n].slice(0, begin, end).sum().item<double>(), 1, 1e-12);
      EXPECT_EQ(alpha[n].count_nonzero().item<std::int64_t>(), end - begin);
    }
  }
}

TEST_P(AttentionReference, WhatIsOutsideTheWindowDoesNotCount) {
  const auto before = all(windows_, false);
  const torch::NoGradGuard guard;
  keys_[0].slice(0, 3, 5) += 100;  // in neither of the first sentence's windows
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(
        torch::equal(before[0][static_cast<std::int64_t>(i)],
                     attention_weights(score(windows_), states_)[static_cast<std::int64_t>(i)]));
  }
}

TEST_P(AttentionReference, InASearchScoresAndWeightsEqualThoseOutsideOfIt) {
  const torch::NoGradGuard guard;
  PackedWeights packed;
  for (const auto& windows : {torch::Tensor(), windows_}) {
    const auto alpha = attention_weights(score(windows), states_);
    const auto e = attention_scores(score(), states_.view({B, G, A}));
    const auto mode = Mode::search(packed);
    EXPECT_TRUE(torch::allclose(attention_weights(score(windows), states_), alpha, 1e-12, 1e-12));
    const auto found = attention_scores(score(), states_.view({B, G, A}));
    for (std::int64_t b = 0; b < B; ++b) {
      const auto length = lengths_[b].item<std::int64_t>();
      EXPECT_TRUE(
          torch::allclose(found[b].narrow(1, 0, length), e[b].narrow(1, 0, length), 1e-12, 1e-12));
    }
  }
}

// Scores without a softmax are fused in this form only.
class AdditiveScores : public AttentionReference {};

TEST_P(AdditiveScores, AndGradientsEqualTheReference) {
  const auto scores = [&](bool reference) {
    use_reference(reference);
    for (const auto& x : {states_, W_, v_, keys_}) x.mutable_grad() = torch::Tensor();
    const auto outside = torch::arange(S) >= lengths_.view({B, 1, 1});  // arbitrary there
    const auto e = attention_scores(score(), states_.view({B, G, A})).masked_fill(outside, 0);
    (e * towards_.view({B, G, S})).sum().backward();
    return std::vector<torch::Tensor>{e.detach(), states_.grad(), W_.grad(), v_.grad(),
                                      keys_.grad()};
  };
  expect_all_close(scores(false), scores(true), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Fused, AdditiveScores, testing::Values(ScoreForm::additive));

INSTANTIATE_TEST_SUITE_P(Forms, AttentionReference,
                         testing::Values(ScoreForm::additive, ScoreForm::dot, ScoreForm::cosine,
                                         ScoreForm::position),
                         [](const auto& form) -> std::string {
                           switch (form.param) {
                             case ScoreForm::additive:
                               return "Additive";
                             case ScoreForm::dot:
                               return "Dot";
                             case ScoreForm::cosine:
                               return "Cosine";
                             case ScoreForm::position:
                               return "Position";
                           }
                           return "";
                         });

class AttentionInSearch : public testing::Test {
 protected:
  AttentionInSearch() { torch::manual_seed(2); }
  // Returns the result of `compute` in a search.
  template <typename F>
  torch::Tensor in_search(const F& compute) {
    const torch::NoGradGuard guard;
    const auto mode = Mode::search(packed_);
    return compute();
  }

  PackedWeights packed_;
  torch::Tensor lengths_ = torch::tensor({7, 4, 1});
  torch::Tensor mask_ = torch::arange(S) < lengths_.unsqueeze(1);
};

TEST_F(AttentionInSearch, CoverageIsAddedToEachQuerysKeys) {
  const auto coverage = torch::rand({B * G, S}, torch::kDouble);
  const auto states = torch::randn({B * G, 3}, torch::kDouble);
  AttentionScore score{.W = torch::randn({A, 3}, torch::kDouble),
                       .v = torch::randn({A}, torch::kDouble),
                       .keys = torch::randn({B, S, A}, torch::kDouble),
                       .lengths = lengths_};
  const auto w = torch::randn({A}, torch::kDouble);
  auto of_queries = score;
  of_queries.keys = score.keys.repeat_interleave(G, 0) + coverage.unsqueeze(-1) * w;
  of_queries.lengths = lengths_.repeat_interleave(G);
  const auto expected = attention_weights(of_queries, states);
  score.coverage = coverage;
  score.coverage_weight = w;
  EXPECT_TRUE(torch::allclose(in_search([&] { return attention_weights(score, states); }), expected,
                              1e-12, 1e-12));
  const auto e = in_search([&] {
    return attention_scores(score, states.view({B, G, 3}));
  });  // [B, G, S]
  EXPECT_TRUE(
      torch::allclose(masked_softmax(e, lengths_).view({B * G, S}), expected, 1e-12, 1e-12));
}

TEST_F(AttentionInSearch, AMaskedSoftmaxEqualsTheOneOutside) {
  const auto e = torch::randn({B, G, S}, torch::kDouble);
  EXPECT_TRUE(torch::allclose(in_search([&] { return masked_softmax(e, lengths_); }),
                              masked_softmax(e, lengths_), 1e-12, 1e-12));
}

TEST_F(AttentionInSearch, MixturesEqualThoseOutsideAndReadNoPadding) {
  for (const std::int64_t M : {1, 5, 16, 70, 150}) {
    for (const std::int64_t queries : {1, 2, 3, 5, 7}) {
      const auto e = torch::randn({B, queries, S}, torch::kDouble);
      auto weights = masked_softmax(e, lengths_).view({B * queries, S});
      weights.select(1, 2).fill_(0);  // a position that all leave out
      auto values = torch::randn({B, S, M}, torch::kDouble);
      const auto expected = mix(weights, values, lengths_);
      EXPECT_TRUE(torch::allclose(expected.view({B, queries, M}),
                                  weights.view({B, queries, S}).bmm(values), 1e-12, 1e-12));
      values.masked_fill_(mask_.logical_not().unsqueeze(-1), std::nan(""));
      EXPECT_TRUE(torch::allclose(in_search([&] { return mix(weights, values, lengths_); }),
                                  expected, 1e-12, 1e-12))
          << M << queries;
    }
  }
}

TEST_F(AttentionInSearch, AMaskedMeanIsTheMeanOverTheRealPositions) {
  const auto values = torch::randn({B, S, 6}, torch::kDouble);
  const auto found = in_search([&] { return masked_mean(values, mask_); });
  for (std::int64_t b = 0; b < B; ++b) {
    const auto mean = values[b].narrow(0, 0, lengths_[b].item<std::int64_t>()).mean(0);
    EXPECT_TRUE(torch::allclose(found[b], mean, 1e-12, 1e-12));
    EXPECT_TRUE(torch::allclose(masked_mean(values, mask_)[b], mean, 1e-12, 1e-12));
  }
}

}  // namespace
}  // namespace regard::kernels::kernels_attention_reference_test
