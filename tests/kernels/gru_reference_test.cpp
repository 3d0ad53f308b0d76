#include "kernels/gru.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include "tests/gradcheck.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t T = 5, B = 3, S = 4, A = 3, D = 6;

struct Case {
  const char* name;
  bool reset_after;
  std::optional<ScoreForm> form;
};

// The loop's inputs, drawn at random; sentences of 4, 2 and 1 positions.
struct Inputs {
  explicit Inputs(const Case& c, torch::Dtype type = torch::kDouble) {
    torch::manual_seed(7);
    const auto draw = [&](at::IntArrayRef sizes) {
      return torch::randn(sizes, type).requires_grad_();
    };
    x = draw({T, B, 3 * D});
    first = draw({B, D});
    U = draw({D, 3 * D});
    tensors = {{"x", x}, {"first", first}, {"U", U}};
    if (c.reset_after) tensors.emplace_back("b_U", b_U = draw({D}));
    if (!c.form) return;
    attention.emplace();
    auto& score = attention->score;
    score.form = *c.form;
    score.lengths = torch::tensor({4, 2, 1});
    score.scale = 0.3;
    tensors.emplace_back("mixed", attention->mixed = draw({B, S, 3 * D}));
    if (*c.form == ScoreForm::position) {
      score.keys = torch::empty({B, S, 0}, type);
      tensors.emplace_back("W", score.W = draw({S, D}));
    } else if (*c.form == ScoreForm::additive) {
      tensors.emplace_back("keys", score.keys = draw({B, S, A}));
      tensors.emplace_back("W", score.W = draw({A, D}));
      tensors.emplace_back("v", score.v = draw({A}));
    } else {
      tensors.emplace_back("keys", score.keys = draw({B, S, D}));
    }
  }

  // A number that depends on every output in its own way.
  torch::Tensor objective(decltype(&gru) function) const {
    const auto [states, weights] = function(x, first, U, b_U, attention);
    auto sum = (states * torch::arange(T * B * D).view({T, B, D}).to(x.dtype()).cos()).sum();
    if (attention) {
      sum = sum + (weights * torch::arange(T * B * S).view({T, B, S}).to(x.dtype()).sin()).sum();
    }
    return sum;
  }

  torch::Tensor x, first, U, b_U;
  std::optional<GruAttention> attention;
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
};

class GruLoopReference : public testing::TestWithParam<Case> {};

TEST_P(GruLoopReference, ValuesEqualTheReference) {
  const Inputs in(GetParam());
  const auto fused = gru(in.x, in.first, in.U, in.b_U, in.attention);
  const auto plain = gru_reference(in.x, in.first, in.U, in.b_U, in.attention);
  EXPECT_TRUE(torch::allclose(fused.states, plain.states, 1e-12, 1e-12));
  if (in.attention) {
    EXPECT_TRUE(torch::allclose(fused.weights, plain.weights, 1e-12, 1e-12));
  }
}

TEST_P(GruLoopReference, GradientsEqualTheReference) {
  const Inputs in(GetParam());
  std::vector<torch::Tensor> tensors;
  for (const auto& [name, tensor] : in.tensors) tensors.push_back(tensor);
  const auto fused = torch::autograd::grad({in.objective(gru)}, tensors);
  const auto plain = torch::autograd::grad({in.objective(gru_reference)}, tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(torch::allclose(fused[i], plain[i], 1e-10, 1e-10)) << in.tensors[i].first;
  }
}

TEST_P(GruLoopReference, GradientsEqualCentralDifferences) {
  const Inputs in(GetParam());
  expect_gradients_match([&] { return in.objective(gru); }, in.tensors);
}

TEST_P(GruLoopReference, SinglePrecisionStaysWithinRounding) {
  const Inputs in(GetParam(), torch::kFloat);
  std::vector<torch::Tensor> tensors;
  for (const auto& [name, tensor] : in.tensors) tensors.push_back(tensor);
  const auto fused = torch::autograd::grad({in.objective(gru)}, tensors);
  const auto plain = torch::autograd::grad({in.objective(gru_reference)}, tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(torch::allclose(fused[i], plain[i], 1e-4, 1e-5)) << in.tensors[i].first;
  }
}

TEST(GruLoopAttention, NothingBeyondASentencesEndMatters) {
  Inputs in({"ResetBeforeAdditive", false, ScoreForm::additive});
  const torch::NoGradGuard guard;
  const auto before = gru(in.x, in.first, in.U, in.b_U, in.attention);
  for (auto& tensor : {in.attention->score.keys, in.attention->mixed}) {
    tensor[1].slice(0, 2).fill_(std::nan(""));
    tensor[2].slice(0, 1).fill_(std::nan(""));
  }
  const auto after = gru(in.x, in.first, in.U, in.b_U, in.attention);
  EXPECT_TRUE(torch::equal(before.states, after.states));
  EXPECT_TRUE(after.weights.select(1, 2).slice(1, 1).eq(0).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(All, GruLoopReference,
                         testing::Values(Case{"ResetBefore", false, {}},
                                         Case{"ResetAfter", true, {}},
                                         Case{"ResetBeforeAdditive", false, ScoreForm::additive},
                                         Case{"ResetAfterAdditive", true, ScoreForm::additive},
                                         Case{"ResetBeforeDot", false, ScoreForm::dot},
                                         Case{"ResetAfterDot", true, ScoreForm::dot},
                                         Case{"ResetBeforeCosine", false, ScoreForm::cosine},
                                         Case{"ResetAfterCosine", true, ScoreForm::cosine},
                                         Case{"ResetBeforePosition", false, ScoreForm::position},
                                         Case{"ResetAfterPosition", true, ScoreForm::position}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace regard::kernels
