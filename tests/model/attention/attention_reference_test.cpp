// What holds of every attention that scores positions, and each score against its equation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "kernels/fused.h"
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
  options.project_keys = true;  // C is not D
  options.window = 1;
  options.heads = 2;
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

// What holds of every kind with weights.
class AttentionKinds : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    attention_ = make_attention(D, C, options_of(GetParam()));
    attention_->to(torch::kDouble);
    sentences_ = Sentences();
  }
  // The first step, with the context in any case.
  AttentionStep attend(const Sentences& s) {
    const auto memory = s.memory(*attention_);
    auto step = attention_->step(s.query, attention_->start(memory), memory);
    if (attention_->is_mixture()) step.context = mix(step.weights, memory.values);
    return step;
  }
  std::shared_ptr<Attention> attention_;
  Sentences sentences_;
};
class ContentScores : public AttentionKinds {};

TEST_P(AttentionKinds, WeightsAreADistributionAndExactlyZeroAtPadding) {
  const auto weights = attend(sentences_).weights;
  EXPECT_TRUE(weights.masked_select(sentences_.mask.logical_not()).eq(0).all().item<bool>());
  EXPECT_TRUE(weights.ge(0).all().item<bool>());
  const auto sums = weights.sum(1);
  EXPECT_TRUE(sums.gt(0).all().item<bool>());
  // The Gaussian of local_p is not renormalised.
  if (GetParam() == "local_p") {
    EXPECT_TRUE(sums.le(1).all().item<bool>());
  } else {
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
  const auto memory = sentences_.memory(*attention_);
  const auto queries = torch::randn({B * 2, D}, torch::kDouble);
  const auto one = attention_->start(memory);
  AttentionState two;
  for (const auto& tensor : one) two.push_back(tensor.repeat_interleave(2, 0));
  const auto together = attention_->step(queries, two, memory).weights;  // [2B, S]
  for (std::int64_t g = 0; g < 2; ++g) {
    const auto alone = attention_->step(queries.slice(0, g, {}, 2), one, memory).weights;
    EXPECT_TRUE(torch::allclose(together.slice(0, g, {}, 2), alone, 1e-12, 1e-12));
  }
}

TEST_P(ContentScores, TheKernelEqualsTheCompositeInValuesAndGradients) {
  std::vector<torch::Tensor> tensors = {sentences_.states.requires_grad_()};
  for (const auto& parameter : attention_->parameters()) tensors.push_back(parameter);
  const auto queries = torch::randn({B * 2, D}, torch::kDouble).requires_grad_();
  tensors.push_back(queries);
  const auto along = torch::randn({B * 2, S}, torch::kDouble);
  const auto run = [&](bool composite) {
    kernels::use_composites(composite);
    const auto weights = attention_->step(queries, {}, sentences_.memory(*attention_)).weights;
    auto results = torch::autograd::grad({(weights * along).sum()}, tensors, {}, {}, false,
                                         /*allow_unused=*/true);
    kernels::use_composites(false);
    results.push_back(weights);
    return results;
  };
  const auto plain = run(true);
  const auto fused = run(false);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_TRUE(torch::allclose(fused[i], plain[i], 1e-10, 1e-12)) << i;
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

TEST_P(AttentionKinds, GradientsEqualCentralDifferences) {
  sentences_.states.requires_grad_();
  sentences_.query.requires_grad_();
  auto tensors = named_tensors(*attention_);
  tensors.emplace_back("states", sentences_.states);
  tensors.emplace_back("query", sentences_.query);
  const auto along = torch::randn({B, C}, torch::kDouble);
  expect_gradients_match([&] { return (attend(sentences_).context * along).sum(); }, tensors);
}

std::vector<std::string> kinds_with_weights() {
  auto kinds = attention_kinds();
  std::erase(kinds, "none");
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, AttentionKinds, testing::ValuesIn(kinds_with_weights()),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(All, ContentScores, testing::ValuesIn(content_scores()),
                         [](const auto& tested) { return tested.param; });

// Loop by loop, in plain numbers.
using Numbers = std::vector<double>;

Numbers numbers(const torch::Tensor& tensor) {
  const auto flat = tensor.detach().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// matrix [n, m] times x [m]
Numbers product(const torch::Tensor& matrix, const Numbers& x) {
  Numbers y;
  for (std::int64_t i = 0; i < matrix.size(0); ++i) y.push_back(dot(numbers(matrix[i]), x));
  return y;
}

// The weights of `kind` are the softmax of e(parameters, s, h).
using Parameters = torch::OrderedDict<std::string, torch::Tensor>;
void expect_score(
    const std::string& kind,
    const std::function<double(const Parameters&, const Numbers& s, const Numbers& h)>& e) {
  torch::manual_seed(4);
  const auto attention = make_attention(D, C, options_of(kind));
  attention->to(torch::kDouble);
  const Sentences s;
  const auto weights = attention->step(s.query, {}, s.memory(*attention)).weights;
  for (std::int64_t b = 0; b < B; ++b) {
    const auto length = s.mask[b].sum().item<std::int64_t>();
    Numbers exp_e;
    for (std::int64_t position = 0; position < length; ++position) {
      exp_e.push_back(std::exp(
          e(attention->named_parameters(), numbers(s.query[b]), numbers(s.states[b][position]))));
    }
    const auto total = std::accumulate(exp_e.begin(), exp_e.end(), 0.0);
    for (std::int64_t position = 0; position < length; ++position) {
      EXPECT_NEAR(weights[b][position].item<double>(),
                  exp_e[static_cast<std::size_t>(position)] / total, 1e-12);
    }
  }
}

TEST(ScoresReference, Additive) {
  expect_score("additive", [](const Parameters& p, const Numbers& s, const Numbers& h) {
    const auto Ws = product(p["W.weight"], s);
    const auto Uh = product(p["U.weight"], h);
    const auto b = numbers(p["U.bias"]);
    const auto v = numbers(p["v"]);
    double e = 0;
    for (std::size_t a = 0; a < v.size(); ++a) e += v[a] * std::tanh(Ws[a] + Uh[a] + b[a]);
    return e;
  });
}

TEST(ScoresReference, Concat) {
  expect_score("concat", [](const Parameters& p, const Numbers& s, const Numbers& h) {
    auto both = s;
    both.insert(both.end(), h.begin(), h.end());
    auto inner = product(p["W"], both);
    for (auto& value : inner) value = std::tanh(value);
    return dot(numbers(p["v"]), inner);
  });
}

TEST(ConcatReference, IsAdditiveUnderTheSameQueryAndWeights) {
  torch::manual_seed(5);
  const auto concat = make_attention(D, C, options_of("concat"));
  const auto additive = make_attention(D, C, options_of("additive"));
  concat->to(torch::kDouble);
  additive->to(torch::kDouble);
  const torch::NoGradGuard guard;
  auto from = concat->named_parameters();
  auto to = additive->named_parameters();
  to["W.weight"].copy_(from["W"].slice(1, 0, D));
  to["U.weight"].copy_(from["W"].slice(1, D));
  to["U.bias"].zero_();
  to["v"].copy_(from["v"]);
  const Sentences s;
  EXPECT_TRUE(torch::allclose(concat->step(s.query, {}, s.memory(*concat)).weights,
                              additive->step(s.query, {}, s.memory(*additive)).weights, 1e-12,
                              1e-12));
}

TEST(ScoresReference, Dot) {
  expect_score("dot", [](const Parameters& p, const Numbers& s, const Numbers& h) {
    return dot(s, product(p["K.weight"], h));
  });
}

TEST(ScoresReference, ScaledDot) {
  expect_score("scaled_dot", [](const Parameters& p, const Numbers& s, const Numbers& h) {
    return dot(s, product(p["K.weight"], h)) / std::sqrt(3.0);
  });
}

TEST(ScoresReference, General) {
  expect_score("general", [](const Parameters& p, const Numbers& s, const Numbers& h) {
    return dot(s, product(p["W.weight"], h));
  });
}

TEST(ScoresReference, Cosine) {
  expect_score("cosine", [](const Parameters& p, const Numbers& s, const Numbers& h) {
    const auto k = product(p["K.weight"], h);
    const auto beta = std::log1p(std::exp(p["b"].item<double>()));
    EXPECT_NEAR(beta, 8, 1e-6);
    return beta * dot(s, k) / std::sqrt(dot(s, s) * dot(k, k));
  });
}

TEST(LocationReference, ScoresThePositionsAloneAndRefusesMoreThanItHas) {
  torch::manual_seed(4);
  auto options = options_of("location");
  options.max_positions = 6;
  const auto location = make_attention(D, C, options);
  location->to(torch::kDouble);
  Sentences s;
  const auto weights = location->step(s.query, {}, s.memory(*location)).weights;
  const auto p = location->named_parameters();
  for (std::int64_t b = 0; b < B; ++b) {
    const auto We = product(p["W.weight"], numbers(s.query[b]));
    const auto length = s.mask[b].sum().item<std::int64_t>();
    double total = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      total += std::exp(We[static_cast<std::size_t>(i)] + p["W.bias"][i].item<double>());
    }
    for (std::int64_t i = 0; i < length; ++i) {
      EXPECT_NEAR(weights[b][i].item<double>(),
                  std::exp(We[static_cast<std::size_t>(i)] + p["W.bias"][i].item<double>()) / total,
                  1e-12);
    }
  }
  s.states = torch::randn({B, 7, C}, torch::kDouble);
  s.mask = torch::ones({B, 7}, torch::kBool);
  EXPECT_THROW(s.memory(*location), InputError);
}

// The weights of general inside the window [p - D, p + D] of sentence b, by plain numbers.
Numbers windowed(const Sentences& s, std::int64_t b, const torch::Tensor& W, double p,
                 double width) {
  const auto length = s.mask[b].sum().item<std::int64_t>();
  Numbers weights(static_cast<std::size_t>(S), 0);
  double total = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    if (std::abs(static_cast<double>(i) - p) > width) continue;
    const auto e = dot(numbers(s.query[b]), product(W, numbers(s.states[b][i])));
    total += weights[static_cast<std::size_t>(i)] = std::exp(e);
  }
  for (auto& weight : weights) weight /= total;
  return weights;
}

TEST(LocalReference, MonotonicWindowsMoveOnAndStayInsideTheSentence) {
  torch::manual_seed(4);
  const auto local = make_attention(D, C, options_of("local_m"));
  local->to(torch::kDouble);
  const Sentences s;
  const auto memory = s.memory(*local);
  auto state = local->start(memory);
  for (std::int64_t t = 0; t < 8; ++t) {
    const auto step = local->step(s.query, state, memory);
    for (std::int64_t b = 0; b < B; ++b) {
      const auto last = s.mask[b].sum().item<std::int64_t>() - 1;
      const auto expected = windowed(s, b, local->named_parameters()["content.W.weight"],
                                     static_cast<double>(std::min(t, last)), 1);
      for (std::int64_t i = 0; i < S; ++i) {
        EXPECT_NEAR(step.weights[b][i].item<double>(), expected[static_cast<std::size_t>(i)],
                    1e-12);
      }
    }
    state = step.state;
  }
}

TEST(LocalReference, PredictedWindowsHaveTheirGaussian) {
  torch::manual_seed(4);
  const auto local = make_attention(D, C, options_of("local_p"));
  local->to(torch::kDouble);
  const Sentences s;
  const auto weights = local->step(s.query, {}, s.memory(*local)).weights;
  const auto parameters = local->named_parameters();
  for (std::int64_t b = 0; b < B; ++b) {
    auto inner = product(parameters["W_p.weight"], numbers(s.query[b]));
    for (auto& value : inner) value = std::tanh(value);
    const auto length = static_cast<double>(s.mask[b].sum().item<std::int64_t>());
    const auto p = length / (1 + std::exp(-dot(numbers(parameters["v_p"]), inner)));
    const auto expected = windowed(s, b, parameters["content.W.weight"], p, 1);
    for (std::int64_t i = 0; i < S; ++i) {
      const auto distance = static_cast<double>(i) - p;
      const auto gaussian = std::exp(-distance * distance / (2 * 0.5 * 0.5));
      EXPECT_NEAR(weights[b][i].item<double>(), expected[static_cast<std::size_t>(i)] * gaussian,
                  1e-12);
    }
  }
}

TEST(LocalReference, AWindowNeedsAContentScore) {
  for (const std::string score : {"local_p", "location", "none", "generel"}) {
    auto options = options_of("local_p");
    options.score = score;
    EXPECT_THROW(make_attention(D, C, options), ConfigError) << score;
  }
}

TEST(MultiHeadReference, EachHeadIsScaledDotProductAttentionOfItsOwn) {
  torch::manual_seed(4);
  const auto multi_head = make_attention(D, C, options_of("multi_head"));
  multi_head->to(torch::kDouble);
  const Sentences s;
  const auto step = multi_head->step(s.query, {}, s.memory(*multi_head));
  const auto p = multi_head->named_parameters();
  const auto affine = [&](const std::string& name, const Numbers& x) {
    auto y = product(p[name + ".weight"], x);
    const auto bias = numbers(p[name + ".bias"]);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i];
    return y;
  };
  constexpr std::size_t width = A / 2;
  for (std::int64_t b = 0; b < B; ++b) {
    const auto q = affine("W_Q", numbers(s.query[b]));
    const auto length = s.mask[b].sum().item<std::int64_t>();
    Numbers heads(A, 0);
    Numbers mean(static_cast<std::size_t>(S), 0);
    for (std::size_t h = 0; h < 2; ++h) {
      Numbers alpha;
      double total = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        const auto k = affine("W_K", numbers(s.states[b][i]));
        double e = 0;
        for (std::size_t a = h * width; a < (h + 1) * width; ++a) e += q[a] * k[a];
        total += alpha.emplace_back(std::exp(e / std::sqrt(3.0)));
      }
      for (std::int64_t i = 0; i < length; ++i) {
        const auto weight = alpha[static_cast<std::size_t>(i)] / total;
        const auto v = affine("W_V", numbers(s.states[b][i]));
        mean[static_cast<std::size_t>(i)] += weight / 2;
        for (std::size_t a = h * width; a < (h + 1) * width; ++a) heads[a] += weight * v[a];
      }
    }
    const auto context = affine("W_O", heads);
    for (std::int64_t c = 0; c < C; ++c) {
      EXPECT_NEAR(step.context[b][c].item<double>(), context[static_cast<std::size_t>(c)], 1e-12);
    }
    for (std::int64_t i = 0; i < S; ++i) {
      EXPECT_NEAR(step.weights[b][i].item<double>(), mean[static_cast<std::size_t>(i)], 1e-12);
    }
  }
}

TEST(MultiHeadReference, ASizeThatDoesNotDivideNamesBoth) {
  auto options = options_of("multi_head");
  options.heads = 4;
  EXPECT_THROW(make_attention(D, C, options), ConfigError);
}

TEST(CosineReference, VectorsOfZerosGiveEvenWeightsAndFiniteGradients) {
  const auto cosine = make_attention(D, C, options_of("cosine"));
  cosine->to(torch::kDouble);
  Sentences s;
  s.query.zero_();
  s.states[0].zero_();
  s.query.requires_grad_();
  s.states.requires_grad_();
  const auto weights = cosine->step(s.query, {}, s.memory(*cosine)).weights;
  EXPECT_TRUE(torch::allclose(weights[0], torch::full({S}, 0.2, torch::kDouble)));
  const auto d = torch::autograd::grad({weights.square().sum()}, {s.query, s.states});
  EXPECT_TRUE(d[0].isfinite().all().item<bool>());
  EXPECT_TRUE(d[1].isfinite().all().item<bool>());
}

TEST(DotReference, StatesOfAnotherWidthWantAProjection) {
  for (const std::string kind : {"dot", "scaled_dot", "cosine"}) {
    auto options = options_of(kind);
    options.project_keys = false;
    EXPECT_NO_THROW(make_attention(C, C, options));
    try {
      make_attention(D, C, options);
      FAIL() << kind;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(testing::HasSubstr(kind + " "), testing::HasSubstr("3 and 4"),
                                 testing::HasSubstr("project_keys")));
    }
  }
}

TEST(NoAttentionReference, TheContextIsTheLastStatesAtEveryStep) {
  NoAttention none(D, C, options_of("none"));
  const Sentences s;
  const auto step = none.step(s.query, {}, s.memory(none));
  EXPECT_TRUE(torch::equal(step.context, s.summary));
  EXPECT_FALSE(step.weights.defined());
}

TEST(NoAttentionReference, EveryHypothesisOfASentenceHasTheSentencesContext) {
  NoAttention none(D, C, options_of("none"));
  const Sentences s;
  const auto queries = s.query.repeat_interleave(2, 0);
  const auto context = none.step(queries, {}, s.memory(none)).context;
  EXPECT_TRUE(torch::equal(context, s.summary.repeat_interleave(2, 0)));
}

TEST(NoAttentionReference, TheMeanCountsRealPositionsOnly) {
  auto options = options_of("none");
  options.fixed_context = FixedContext::mean;
  NoAttention none(D, C, options);
  const Sentences s;
  const auto context = none.step(s.query, {}, s.memory(none)).context;
  EXPECT_TRUE(torch::allclose(context[1], s.states[1].slice(0, 0, 3).mean(0), 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(context[2], s.states[2][0], 1e-12, 1e-12));
}

}  // namespace
}  // namespace regard
