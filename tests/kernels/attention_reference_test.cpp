#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/fused.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t B = 3, G = 2, S = 7, A = 5;

class AttentionReference : public testing::TestWithParam<ScoreForm> {
 protected:
  AttentionReference() { torch::manual_seed(1); }
  ~AttentionReference() override { use_composites(false); }

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
  std::vector<torch::Tensor> all(const torch::Tensor& windows, bool composites) {
    use_composites(composites);
    for (auto x : {states_, W_, v_, keys_}) x.mutable_grad() = torch::Tensor();
    const auto alpha = attention_weights(score(windows), states_);
    (alpha * towards_).sum().backward();
    std::vector<torch::Tensor> found = {alpha.detach()};
    for (const auto& x : {states_, W_, v_, keys_}) found.push_back(x.grad());
    return found;
  }
  void expect_kernel_equals_composite(const torch::Tensor& windows) {
    const auto fused = all(windows, false);
    const auto plain = all(windows, true);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      ASSERT_EQ(fused[i].defined(), plain[i].defined()) << i;
      if (fused[i].defined()) {
        EXPECT_TRUE(torch::allclose(fused[i], plain[i], 1e-10, 1e-12)) << i;
      }
    }
  }

  torch::Tensor lengths_ = torch::tensor({7, 4, 1});
  torch::Tensor states_ = draw({B * G, A});
  torch::Tensor W_ = draw({GetParam() == ScoreForm::position ? S : A, A});
  torch::Tensor v_ = draw({A});
  torch::Tensor keys_ = draw({B, S, A});
  torch::Tensor towards_ = torch::randn({B * G, S}, torch::kDouble);
  // Of each query; the last sentence has one position.
  torch::Tensor windows_ = torch::tensor({{0, 3}, {5, 7}, {1, 4}, {3, 4}, {0, 1}, {0, 1}});
};

TEST_P(AttentionReference, WeightsAndGradientsEqualTheComposites) {
  expect_kernel_equals_composite({});
}

TEST_P(AttentionReference, SoTheyDoInWindows) {
  expect_kernel_equals_composite(windows_);
}

TEST_P(AttentionReference, WeightsAreExactlyZeroOutsideTheWindowAndSumToOneInside) {
  for (const bool composites : {false, true}) {
    const auto alpha = all(windows_, composites)[0];
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

}  // namespace
}  // namespace regard::kernels
