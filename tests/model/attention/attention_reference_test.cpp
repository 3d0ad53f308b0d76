// What holds of every attention that scores positions, and each score against its equation.
#include <gtest/gtest.h>

#include <cmath>

#include "model/attention/additive.h"
#include "model/attention/fixed_context.h"
#include "model/attention/table.h"
#include "tests/gradcheck.h"

namespace regard {
namespace {

constexpr std::int64_t B = 3, S = 5, C = 4, D = 3, A = 6;

AttentionOptions options_of(const std::string& kind) {
  AttentionOptions options;
  options.kind = kind;
  options.size = A;
  return options;
}

struct Sentences {
  torch::Tensor states = torch::randn({B, S, C}, torch::kDouble);
  torch::Tensor mask = torch::arange(S) < torch::tensor({5, 3, 1}).unsqueeze(1);
  torch::Tensor summary = torch::randn({B, C}, torch::kDouble);
  torch::Tensor query = torch::randn({B, D}, torch::kDouble);

  Memory memory(Attention& attention) const {
    Memory memory;
    memory.values = states;
    memory.mask = mask;
    memory.lengths = mask.sum(1);
    memory.summary = summary;
    attention.prepare(memory);
    return memory;
  }
};

// Kinds whose weights are a softmax over the scores of the real positions.
class ScoreKinds : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    attention_ = make_attention(D, C, options_of(GetParam()));
    attention_->to(torch::kDouble);
    sentences_ = Sentences();
  }
  // With the context in any case.
  AttentionStep attend(const Sentences& s) {
    const auto memory = s.memory(*attention_);
    auto step = attention_->step(s.query, memory);
    if (attention_->is_mixture()) step.context = mix(step.weights, memory.values);
    return step;
  }
  std::shared_ptr<Attention> attention_;
  Sentences sentences_;
};

TEST_P(ScoreKinds, WeightsAreADistributionAndExactlyZeroAtPadding) {
  const auto weights = attend(sentences_).weights;
  EXPECT_TRUE(torch::allclose(weights.sum(1), torch::ones({B}, torch::kDouble)));
  EXPECT_TRUE(weights.masked_select(sentences_.mask.logical_not()).eq(0).all().item<bool>());
  EXPECT_TRUE(weights.masked_select(sentences_.mask).gt(0).all().item<bool>());
}

TEST_P(ScoreKinds, TheContextIsTheWeightedSumOfTheStates) {
  const auto [weights, context] = attend(sentences_);
  const auto expected = (weights.unsqueeze(-1) * sentences_.states).sum(1);
  EXPECT_TRUE(torch::allclose(context, expected, 1e-12, 1e-12));
}

TEST_P(ScoreKinds, ARaggedBatchEqualsItsSentencesOneAtATime) {
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

TEST_P(ScoreKinds, SeveralQueriesToASentenceAreAnsweredOneByOne) {
  const auto memory = sentences_.memory(*attention_);
  const auto queries = torch::randn({B * 2, D}, torch::kDouble);
  for (const bool with_gradient : {true, false}) {  // composite and kernel
    const torch::AutoGradMode mode(with_gradient);
    const auto together = attention_->step(queries, memory).weights;  // [2B, S]
    for (std::int64_t g = 0; g < 2; ++g) {
      const auto alone = attention_->step(queries.slice(0, g, {}, 2), memory).weights;
      EXPECT_TRUE(torch::allclose(together.slice(0, g, {}, 2), alone, 1e-12, 1e-12));
    }
  }
}

TEST_P(ScoreKinds, TheKernelWithoutGradientsEqualsTheComposite) {
  const auto memory = sentences_.memory(*attention_);
  const auto composite = attention_->step(sentences_.query, memory).weights;
  const torch::NoGradGuard guard;
  const auto fast = attention_->step(sentences_.query, memory).weights;
  EXPECT_TRUE(torch::allclose(fast, composite, 1e-12, 1e-12));
}

TEST_P(ScoreKinds, PermutingThePositionsChangesNothing) {
  const auto order = torch::tensor({3, 0, 4, 1, 2});
  const auto before = attend(sentences_);
  auto permuted = sentences_;
  permuted.states = sentences_.states.index_select(1, order);
  permuted.mask = sentences_.mask.index_select(1, order);
  const auto after = attend(permuted);
  EXPECT_TRUE(torch::allclose(before.context, after.context, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(before.weights.index_select(1, order), after.weights, 1e-12, 1e-12));
}

TEST_P(ScoreKinds, GradientsEqualCentralDifferences) {
  sentences_.states.requires_grad_();
  sentences_.query.requires_grad_();
  auto tensors = named_tensors(*attention_);
  tensors.emplace_back("states", sentences_.states);
  tensors.emplace_back("query", sentences_.query);
  const auto along = torch::randn({B, C}, torch::kDouble);
  expect_gradients_match([&] { return (attend(sentences_).context * along).sum(); }, tensors);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ScoreKinds, testing::Values("additive"),
                         [](const auto& tested) { return tested.param; });

TEST(AdditiveReference, ScoresEqualTheEquationNumberByNumber) {
  torch::manual_seed(4);
  Additive additive(D, C, options_of("additive"));
  additive.to(torch::kDouble);
  const Sentences s;
  const auto weights = additive.step(s.query, s.memory(additive)).weights;
  const auto p = additive.named_parameters();
  for (std::int64_t b = 0; b < B; ++b) {
    std::vector<double> e;
    const auto length = s.mask[b].sum().item<std::int64_t>();
    for (std::int64_t position = 0; position < length; ++position) {
      double sum = 0;
      for (std::int64_t a = 0; a < A; ++a) {
        double inner = p["U.bias"][a].item<double>();
        for (std::int64_t d = 0; d < D; ++d) {
          inner += p["W.weight"][a][d].item<double>() * s.query[b][d].item<double>();
        }
        for (std::int64_t c = 0; c < C; ++c) {
          inner += p["U.weight"][a][c].item<double>() * s.states[b][position][c].item<double>();
        }
        sum += p["v"][a].item<double>() * std::tanh(inner);
      }
      e.push_back(std::exp(sum));
    }
    double total = 0;
    for (const double value : e) total += value;
    for (std::int64_t position = 0; position < length; ++position) {
      EXPECT_NEAR(weights[b][position].item<double>(), e[position] / total, 1e-12);
    }
  }
}

TEST(NoAttentionReference, TheContextIsTheLastStatesAtEveryStep) {
  NoAttention none(options_of("none"));
  const Sentences s;
  const auto step = none.step(s.query, s.memory(none));
  EXPECT_TRUE(torch::equal(step.context, s.summary));
  EXPECT_FALSE(step.weights.defined());
}

TEST(NoAttentionReference, EveryHypothesisOfASentenceHasTheSentencesContext) {
  NoAttention none(options_of("none"));
  const Sentences s;
  const auto queries = s.query.repeat_interleave(2, 0);
  const auto context = none.step(queries, s.memory(none)).context;
  EXPECT_TRUE(torch::equal(context, s.summary.repeat_interleave(2, 0)));
}

TEST(NoAttentionReference, TheMeanCountsRealPositionsOnly) {
  auto options = options_of("none");
  options.fixed_context = FixedContext::mean;
  NoAttention none(options);
  const Sentences s;
  const auto context = none.step(s.query, s.memory(none)).context;
  EXPECT_TRUE(torch::allclose(context[1], s.states[1].slice(0, 0, 3).mean(0), 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(context[2], s.states[2][0], 1e-12, 1e-12));
}

}  // namespace
}  // namespace regard
