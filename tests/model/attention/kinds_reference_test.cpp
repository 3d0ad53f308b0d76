// Properties of every attention with weights, and of every content score.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "model/attention/table.h"
#include "tests/gradcheck.h"
#include "tests/model/attention/sentences.h"

namespace regard::kinds_reference_test {
namespace {

// Every kind with weights.
class AttentionKinds : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    attention_ = make_attention(D, C, options_of(GetParam()));
    attention_->to(torch::kDouble);
    attention_->eval();  // nothing is drawn
    sentences_ = Sentences();
  }
  // The first step, with the context in any case.
  AttentionStep attend(const Sentences& s) {
    const auto encoded = s.encoded(*attention_);
    auto step = attention_->step(s.query, attention_->initial_state(encoded), encoded);
    if (attention_->traits().is_mixture)
      step.context = kernels::mix(step.weights, encoded.states, encoded.lengths);
    return step;
  }
  std::shared_ptr<Attention> attention_;
  Sentences sentences_;
};
class ContentScores : public AttentionKinds {};
class SmoothKinds : public AttentionKinds {};

TEST_P(AttentionKinds, WeightsAreADistributionAndExactlyZeroAtPadding) {
  const auto weights = attend(sentences_).weights;
  EXPECT_TRUE(weights.masked_select(sentences_.mask.logical_not()).eq(0).all().item<bool>());
  EXPECT_TRUE(weights.ge(0).all().item<bool>());
  const auto sums = weights.sum(1);
  EXPECT_TRUE(sums.le(1 + 1e-12).all().item<bool>());
  if (GetParam() == "monotonic") return;  // which may read nothing
  EXPECT_TRUE(sums.gt(0).all().item<bool>());
  if (attention_->traits().is_distribution) {
    EXPECT_TRUE(torch::allclose(sums, torch::ones({B}, torch::kDouble)));
  }
}

TEST_P(ContentScores, EveryRealPositionHasAWeight) {
  const auto weights = attend(sentences_).weights;
  EXPECT_TRUE(weights.masked_select(sentences_.mask).gt(0).all().item<bool>());
}

TEST_P(AttentionKinds, ARaggedBatchEqualsItsSentencesOneAtATime) {
  const auto together = attend(sentences_);
  for (std::int64_t b = 0; b < B; ++b) {
    const auto length = sentences_.mask[b].sum().item<std::int64_t>();
    Sentences alone;
    alone.states = sentences_.states.narrow(0, b, 1).narrow(1, 0, length);
    alone.mask = torch::ones({1, length}, torch::kBool);
    alone.summary = sentences_.summary.narrow(0, b, 1);
    alone.query = sentences_.query.narrow(0, b, 1);
    const auto step = attend(alone);
    EXPECT_TRUE(torch::allclose(step.context[0], together.context[b], 1e-12, 1e-12));
    EXPECT_TRUE(torch::allclose(step.weights[0], together.weights[b].slice(0, 0, length), 1e-12));
  }
}

TEST_P(AttentionKinds, SeveralQueriesToASentenceAreAnsweredOneByOne) {
  const auto encoded = sentences_.encoded(*attention_);
  const auto queries = torch::randn({B * 2, D}, torch::kDouble);
  const auto one = attention_->initial_state(encoded);
  AttentionState two;
  for (const auto& tensor : one) two.push_back(tensor.repeat_interleave(2, 0));
  const auto together = attention_->step(queries, two, encoded);  // [2B, …]
  for (std::int64_t g = 0; g < 2; ++g) {
    const auto alone = attention_->step(queries.slice(0, g, {}, 2), one, encoded);
    const auto expect_same = [&](const torch::Tensor& all, const torch::Tensor& own) {
      ASSERT_EQ(all.defined(), own.defined());
      if (!own.defined()) return;
      EXPECT_TRUE(torch::allclose(all.slice(0, g, {}, 2), own, 1e-12, 1e-12));
    };
    expect_same(together.weights, alone.weights);
    expect_same(together.context, alone.context);
  }
}

TEST_P(ContentScores, PermutingThePositionsOfASentenceChangesNothing) {
  const auto order = torch::tensor({{3, 0, 4, 1, 2}, {2, 0, 1, 3, 4}, {0, 1, 2, 3, 4}});
  const auto before = attend(sentences_);
  auto permuted = sentences_;
  permuted.states = sentences_.states.gather(1, order.unsqueeze(-1).expand({B, S, C}));
  const auto after = attend(permuted);
  EXPECT_TRUE(torch::allclose(before.context, after.context, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(before.weights.gather(1, order), after.weights, 1e-12, 1e-12));
}

TEST_P(SmoothKinds, GradientsEqualCentralDifferences) {
  sentences_.states.requires_grad_();
  sentences_.query.requires_grad_();
  auto tensors = named_tensors(*attention_);
  tensors.emplace_back("states", sentences_.states);
  tensors.emplace_back("query", sentences_.query);
  const auto along = torch::randn({2, B, C}, torch::kDouble);
  const auto two_steps = [&] {
    const auto encoded = sentences_.encoded(*attention_);
    auto state = attention_->initial_state(encoded);
    auto sum = torch::zeros({}, torch::kDouble);
    for (std::int64_t t = 0; t < 2; ++t) {
      auto step = attention_->step(sentences_.query * (t + 1), state, encoded);
      if (attention_->traits().is_mixture)
        step.context = kernels::mix(step.weights, encoded.states, encoded.lengths);
      sum = sum + (step.context * along[t]).sum();
      state = step.state;
    }
    return sum;
  };
  expect_gradients_match(two_steps, tensors);
}

std::vector<std::string> kinds_with_weights() {
  auto kinds = choice_names<AttentionKind>();
  std::erase(kinds, "none");
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, AttentionKinds, testing::ValuesIn(kinds_with_weights()),
                         [](const auto& tested) { return tested.param; });
// Those whose weights change little when the query does.
std::vector<std::string> smooth_kinds() {
  auto kinds = kinds_with_weights();
  std::erase(kinds, "hard");
  std::erase(kinds, "monotonic");
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, SmoothKinds, testing::ValuesIn(smooth_kinds()),
                         [](const auto& tested) { return tested.param; });
std::vector<std::string> names_of_scores() {
  std::vector<std::string> names;
  for (const auto kind : content_scores()) names.emplace_back(enum_name(kind));
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ContentScores, testing::ValuesIn(names_of_scores()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace regard::kinds_reference_test
