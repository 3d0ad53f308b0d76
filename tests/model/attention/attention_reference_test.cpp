// Each attention against its equation, number by number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "model/attention/fixed_context.h"
#include "model/attention/table.h"
#include "model/random_stream.h"
#include "tests/gradcheck.h"
#include "tests/model/attention/plain_numbers.h"
#include "tests/model/attention/sentences.h"

namespace regard::attention_attention_reference_test {
namespace {

// The weights of `kind` are the softmax of e(parameters, s, h).
using Parameters = torch::OrderedDict<std::string, torch::Tensor>;
void expect_score(
    const std::string& kind,
    const std::function<double(const Parameters&, const Numbers& s, const Numbers& h)>& e) {
  torch::manual_seed(4);
  const auto attention = make_attention(D, C, options_of(kind));
  attention->to(torch::kDouble);
  const Sentences s;
  const auto weights = attention->step(s.query, {}, s.encoded(*attention)).weights;
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
  EXPECT_TRUE(torch::allclose(concat->step(s.query, {}, s.encoded(*concat)).weights,
                              additive->step(s.query, {}, s.encoded(*additive)).weights, 1e-12,
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
  const auto weights = location->step(s.query, {}, s.encoded(*location)).weights;
  const auto p = location->named_parameters();
  for (std::int64_t b = 0; b < B; ++b) {
    const auto length = s.mask[b].sum().item<std::int64_t>();
    const auto expected = softmax(product(p["W"].slice(0, 0, length), numbers(s.query[b])));
    for (std::int64_t i = 0; i < length; ++i) {
      EXPECT_NEAR(weights[b][i].item<double>(), expected[static_cast<std::size_t>(i)], 1e-12);
    }
  }
  s.states = torch::randn({B, 7, C}, torch::kDouble);
  s.mask = torch::ones({B, 7}, torch::kBool);
  EXPECT_THROW(s.encoded(*location), InputError);
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
  const auto encoded = s.encoded(*local);
  auto state = local->initial_state(encoded);
  for (std::int64_t t = 0; t < 8; ++t) {
    const auto step = local->step(s.query, state, encoded);
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

void expect_predicted_windows(Attention& local, const Sentences& s) {
  const auto weights = local.step(s.query, {}, s.encoded(local)).weights;
  const auto parameters = local.named_parameters();
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

TEST(LocalReference, PredictedWindowsHaveTheirGaussianAlsoAtEitherEnd) {
  torch::manual_seed(4);
  const auto local = make_attention(D, C, options_of("local_p"));
  local->to(torch::kDouble);
  const Sentences s;
  expect_predicted_windows(*local, s);
  const torch::NoGradGuard guard;
  for (const double v_p : {-50.0, 50.0}) {  // p_t near 0 or S, as W_p s is negative or not
    local->named_parameters()["v_p"].fill_(v_p);
    expect_predicted_windows(*local, s);
  }
}

TEST(LocalReference, AQueryOfNoNumbersStillHasAWindow) {
  const auto local = make_attention(D, C, options_of("local_p"));
  local->to(torch::kDouble);
  auto s = Sentences();
  s.query.fill_(std::numeric_limits<double>::quiet_NaN());
  const auto weights = local->step(s.query, {}, s.encoded(*local)).weights;
  EXPECT_EQ(weights.sizes(), (std::vector<std::int64_t>{B, S}));
}

TEST(LocalReference, AWindowNeedsAContentScore) {
  for (const std::string score : {"local_p", "location", "none"}) {
    auto options = options_of("local_p");
    options.score = kind_named(score);
    EXPECT_THROW(make_attention(D, C, options), ConfigError) << score;
  }
}

TEST(MultiHeadReference, EachHeadIsScaledDotProductAttentionOfItsOwn) {
  torch::manual_seed(4);
  const auto multi_head = make_attention(D, C, options_of("multi_head"));
  multi_head->to(torch::kDouble);
  const Sentences s;
  const auto step = multi_head->step(s.query, {}, s.encoded(*multi_head));
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

TEST(MultiHeadReference, TheMeanContextUnderDropoutIsTheContext) {
  const auto multi_head = make_attention(D, C, options_of("multi_head"), 0.5);
  multi_head->to(torch::kDouble);
  const torch::NoGradGuard guard;
  const RandomStream stream(3, 1);
  const Sentences s;
  const auto encoded = s.encoded(*multi_head);
  std::vector<torch::Tensor> drawn;
  for (int i = 0; i < 4000; ++i) drawn.push_back(multi_head->step(s.query, {}, encoded).context);
  multi_head->eval();
  const auto all = torch::stack(drawn);
  const auto error = all.std(0) / std::sqrt(4000.0);
  const auto distance = (all.mean(0) - multi_head->step(s.query, {}, encoded).context).abs();
  EXPECT_GT(error.min().item<double>(), 0);
  EXPECT_LT((distance / error).max().item<double>(), 5);
}

TEST(MultiHeadReference, ASizeThatDoesNotDivideNamesBoth) {
  auto options = options_of("multi_head");
  options.heads = 4;
  EXPECT_THAT([&] { make_attention(D, C, options); },
              testing::ThrowsMessage<ConfigError>(
                  testing::AllOf(testing::HasSubstr("model.attention.heads: found 4"),
                                 testing::HasSubstr("share, " + std::to_string(A)))));
}

TEST(CosineReference, VectorsOfZerosGiveEvenWeightsAndFiniteGradients) {
  const auto cosine = make_attention(D, C, options_of("cosine"));
  cosine->to(torch::kDouble);
  Sentences s;
  s.query.zero_();
  s.states[0].zero_();
  s.query.requires_grad_();
  s.states.requires_grad_();
  const auto weights = cosine->step(s.query, {}, s.encoded(*cosine)).weights;
  EXPECT_TRUE(torch::allclose(weights[0], torch::full({S}, 0.2, torch::kDouble)));
  const auto d = torch::autograd::grad({weights.square().sum()}, {s.query, s.states});
  EXPECT_TRUE(d[0].isfinite().all().item<bool>());
  EXPECT_TRUE(d[1].isfinite().all().item<bool>());
}

TEST(CosineReference, TheSharpnessIsOneOrOfEachQueryIfTheOptionsSaySo) {
  torch::manual_seed(5);
  const Sentences s;
  const auto queries = torch::randn({B * 2, D}, torch::kDouble);  // two for each sentence
  const auto cosines = [&](Attention& attention, const EncoderOutput& encoded) {
    const auto K = attention.named_parameters()["K.weight"];
    const auto keys = torch::linear(encoded.states, K);
    const auto q = queries.view({B, 2, D});
    const auto norms = q.norm(2, -1, true) * keys.norm(2, -1).unsqueeze(1);
    return (q.matmul(keys.transpose(1, 2)) / norms).view({B * 2, S});
  };
  for (const auto sharpness : {Sharpness::none, Sharpness::step}) {
    auto options = options_of("cosine");
    options.sharpness = sharpness;
    const auto made = make_attention(D, C, options);
    made->to(torch::kDouble);
    auto& cosine = dynamic_cast<ScoreAttention&>(*made);
    const auto encoded = s.encoded(cosine);
    auto expected = cosines(cosine, encoded);
    if (sharpness == Sharpness::step) {
      const auto w = cosine.named_parameters()["of_step.weight"];
      const auto b = cosine.named_parameters()["of_step.bias"];
      expected = expected * torch::softplus(torch::linear(queries, w, b));
    } else {
      EXPECT_FALSE(cosine.named_parameters().contains("b"));
    }
    EXPECT_TRUE(torch::allclose(cosine.scores(queries, encoded), expected, 1e-10, 1e-10));
    const auto alpha = cosine.step(queries, {}, encoded).weights.view({B, 2, S});
    const auto weights = expected.view({B, 2, S})
                             .masked_fill(encoded.padding, -std::numeric_limits<double>::infinity())
                             .softmax(-1);
    EXPECT_TRUE(torch::allclose(alpha, weights, 1e-10, 1e-10));
    const auto along = torch::randn({B, 2, S}, torch::kDouble);
    const auto gradients = [&](const torch::Tensor& result) {
      return torch::autograd::grad({(result * along).sum()}, cosine.parameters());
    };
    expect_all_close(gradients(alpha), gradients(weights), 1e-10);
    EXPECT_EQ(cosine.fused_score(encoded).has_value(), sharpness == Sharpness::none);
  }
}

TEST(DotReference, DifferentWidthsAreProjectedUnlessForbidden) {
  torch::manual_seed(5);
  for (const std::string kind : {"dot", "scaled_dot", "cosine"}) {
    auto options = options_of(kind);
    options.project_keys = ProjectKeys::automatic;
    const auto has_matrix = [&](std::int64_t query_size) {
      return make_attention(query_size, C, options)->named_parameters().contains("K.weight");
    };
    EXPECT_TRUE(has_matrix(D)) << kind;
    EXPECT_FALSE(has_matrix(C)) << kind;
    options.project_keys = ProjectKeys::yes;
    EXPECT_TRUE(has_matrix(C)) << kind;
  }
}

TEST(DotReference, StatesOfAnotherWidthWantAProjection) {
  for (const std::string kind : {"dot", "scaled_dot", "cosine"}) {
    auto options = options_of(kind);
    options.project_keys = ProjectKeys::no;
    EXPECT_NO_THROW(make_attention(C, C, options));
    EXPECT_THAT([&] { make_attention(D, C, options); },
                testing::ThrowsMessage<ConfigError>(
                    testing::AllOf(testing::HasSubstr(kind + " "), testing::HasSubstr("3 and 4"),
                                   testing::HasSubstr("project_keys"))));
  }
}

TEST(NoAttentionReference, TheContextIsTheLastStatesAtEveryStep) {
  NoAttention none(D, C, options_of("none"));
  const Sentences s;
  const auto step = none.step(s.query, {}, s.encoded(none));
  EXPECT_TRUE(torch::equal(step.context, s.summary));
  EXPECT_FALSE(step.weights.defined());
}

TEST(NoAttentionReference, EveryHypothesisOfASentenceHasTheSentencesContext) {
  NoAttention none(D, C, options_of("none"));
  const Sentences s;
  const auto queries = s.query.repeat_interleave(2, 0);
  const auto context = none.step(queries, {}, s.encoded(none)).context;
  EXPECT_TRUE(torch::equal(context, s.summary.repeat_interleave(2, 0)));
}

TEST(NoAttentionReference, TheMeanCountsRealPositionsOnly) {
  auto options = options_of("none");
  options.fixed_context = FixedContext::mean;
  NoAttention none(D, C, options);
  const Sentences s;
  const auto context = none.step(s.query, {}, s.encoded(none)).context;
  EXPECT_TRUE(torch::allclose(context[1], s.states[1].slice(0, 0, 3).mean(0), 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(context[2], s.states[2][0], 1e-12, 1e-12));
}

}  // namespace
}  // namespace regard::attention_attention_reference_test
