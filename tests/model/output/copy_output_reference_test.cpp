#include "model/output/copy_output.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <cmath>

#include "base/error.h"
#include "config/options.h"
#include "decoding/score_targets.h"
#include "tests/gradcheck.h"
#include "tests/model/attention_kind.h"
#include "tests/model/output/output_layer_case.h"

namespace regard::copy_output_reference_test {
namespace {

constexpr std::int64_t V = 8;

// Words of the source, and what they are to the target: 8 and 9 are words it lacks, of which the
// first sentence has both, one of them twice.
OutputCase copy_case() {
  OutputCase x;
  const auto source = torch::tensor({{4, 1, 1, 1, 3}, {7, 1, 3, 0, 0}, {5, 3, 0, 0, 0}});
  const auto target = torch::tensor({{5, 8, 9, 8, 3}, {6, 8, 3, 0, 0}, {4, 3, 0, 0, 0}});
  x.source = {CopyIds{source, target}, torch::tensor({5, 3, 2})};
  x.input = torch::tensor({{2, 8, 5, 9}, {2, 8, 1, 0}, {2, 7, 0, 0}});
  x.output = torch::tensor({{8, 5, 9, 3}, {8, 1, 3, 0}, {7, 3, 0, 0}});
  return x;
}

EncoderDecoder copy_model(const std::string& attention = "additive", Query query = Query::automatic,
                          bool feeding = false) {
  torch::manual_seed(3);
  auto options = small_model(OutputKind::copy);
  options.attention.kind = kind_named(attention);
  options.decoder.query = query;
  options.decoder.input_feeding = feeding;
  EncoderDecoder model(9, V, options);
  model.to(torch::kDouble);
  return model;
}

// P(y) of each step, in plain numbers.
class Plain {
 public:
  Plain(EncoderDecoder& model, const OutputCase& x) : model_(model), x_(x), run_(model, x) {}

  double probability(std::int64_t b, std::int64_t t, std::int64_t y) {
    const TensorNumbers alpha(run_.decoded.weights);
    double copied = 0;
    const auto& copies = std::get<CopyIds>(x_.source.values).extended_ids;
    for (std::int64_t s = 0; s < x_.source.lengths[b].item<std::int64_t>(); ++s) {
      if (copies[b][s].item<std::int64_t>() == y) copied += alpha(b, t, s);
    }
    const auto p_gen = generation(b, t);
    return p_gen * (y < V ? generated(b, t, y) : 0) + (1 - p_gen) * copied;
  }

 private:
  double generation(std::int64_t b, std::int64_t t) {
    const TensorNumbers alpha(run_.decoded.weights), h(run_.encoded.states), s(run_.decoded.hidden),
        y(run_.decoded.input);
    const auto w_c = parameter(model_, "copy_w_c.weight");
    const auto w_s = parameter(model_, "copy_w_s.weight");
    const auto w_y = parameter(model_, "copy_w_y.weight");
    double logit = parameter(model_, "copy_w_s.bias")(0);
    for (std::int64_t c = 0; c < 4; ++c) {
      double context = 0;
      for (std::int64_t p = 0; p < x_.source.lengths[b].item<std::int64_t>(); ++p) {
        context += alpha(b, t, p) * h(b, p, c);
      }
      logit += w_c(c) * context + w_s(c) * s(b, t, c);
    }
    for (std::int64_t e = 0; e < 3; ++e) logit += w_y(e) * y(b, t, e);
    return 1 / (1 + std::exp(-logit));
  }
  double generated(std::int64_t b, std::int64_t t, std::int64_t word) {
    const TensorNumbers readout(run_.decoded.readout);
    const auto W = parameter(model_, "output_weight");
    const auto bias = parameter(model_, "output_bias");
    double total = 0;
    double own = 0;
    for (std::int64_t v = 0; v < V; ++v) {
      double logit = bias(v);
      for (std::int64_t r = 0; r < 3; ++r) logit += W(v, r) * readout(b, t, r);
      total += std::exp(logit);
      if (v == word) own = std::exp(logit);
    }
    return own / total;
  }

  EncoderDecoder& model_;
  const OutputCase& x_;
  Computed run_;
};

TEST(CopyOutputReference, TheLossIsThatOfTheEquations) {
  auto model = copy_model();
  const auto x = copy_case();
  Plain plain(model, x);
  for (const double smoothing : {0.0, 0.1}) {
    double expected = 0;
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t t = 0; t < 4; ++t) {
        const auto y = x.output[b][t].item<std::int64_t>();
        if (y == 0) continue;
        expected -= (1 - smoothing) * std::log(plain.probability(b, t, y));
        for (std::int64_t v = 0; v < V; ++v) {
          expected -= smoothing / V * std::log(plain.probability(b, t, v));
        }
      }
    }
    EXPECT_NEAR(loss_of(model, x, smoothing).item<double>(), expected, 1e-10) << smoothing;
  }
}

TEST(CopyOutputReference, ProbabilitiesOfAllWordsSumToOne) {
  auto model = copy_model();
  const auto x = copy_case();
  Plain plain(model, x);
  const torch::NoGradGuard guard;
  const auto encoded = model.encode(x.source);
  const auto step = model.step(x.input.select(1, 0), model.initial_state(encoded), encoded);
  const auto p = model.output_layer().logits(step, encoded).exp();
  for (std::int64_t b = 0; b < 3; ++b) {
    EXPECT_NEAR(p[b].sum().item<double>(), 1, 1e-12);
    for (std::int64_t y = 0; y < 10; ++y) {
      EXPECT_NEAR(p[b][y].item<double>(), plain.probability(b, 0, y), 1e-12) << b << ' ' << y;
    }
  }
  EXPECT_EQ(p[2][8].item<double>(), 0);  // other sentences' words are none of this one's
}

TEST(CopyOutputReference, GradientsEqualCentralDifferences) {
  for (const double smoothing : {0.0, 0.1}) {
    auto model = copy_model();
    const auto x = copy_case();
    expect_gradients_match([&] { return loss_of(model, x, smoothing); }, named_tensors(model),
                           1e-5);
  }
}

TEST(CopyOutputReference, ABatchIsItsSentencesWhateverAsksTheAttention) {
  const auto x = copy_case();
  for (const auto query : {Query::last, Query::between, Query::new_}) {
    for (const bool feeding : {false, true}) {
      auto model = copy_model("additive", query, feeding);
      expect_batch_equals_sentences(model, x);
      expect_steps_equal_loss(model, x);
      expect_log_probabilities_equal_loss(model, x);
      expect_search_ignores_the_batch(model, x);
    }
  }
  auto local = copy_model("local_m");
  expect_batch_equals_sentences(local, x);
  expect_steps_equal_loss(local, x);
}

TEST(CopyOutputReference, ATransformerCopiesByItsLastLayersAttention) {
  torch::manual_seed(3);
  auto options = small_model(OutputKind::copy);
  options.decoder.kind = LayerKind::transformer;
  options.decoder.embedding_dim = options.decoder.hidden_size = 4;
  options.decoder.layers = 2;
  options.decoder.self_attention.heads = 2;
  options.decoder.self_attention.feed_forward_size = 5;
  EncoderDecoder model(9, V, options);
  model.to(torch::kDouble);
  const auto x = copy_case();
  expect_batch_equals_sentences(model, x);
  expect_steps_equal_loss(model, x);
  expect_log_probabilities_equal_loss(model, x);
  expect_search_ignores_the_batch(model, x);
  expect_gradients_match([&] { return loss_of(model, x, 0.1); }, named_tensors(model), 1e-5);
}

TEST(CopyOutputReference, ForcedDecodingHasTheProbabilityOfTheLoss) {
  auto model = copy_model();
  const auto x = copy_case();
  const auto begin = torch::full({3, 1}, 2, torch::kLong);
  double log_p = 0;
  for (const auto& hypothesis :
       score_targets(model, x.source, {torch::cat({begin, x.output}, 1)}, true)) {
    log_p += hypothesis.log_probability;
    EXPECT_EQ(hypothesis.weights.size(), hypothesis.tokens.size() + 1);
  }
  EXPECT_NEAR(-log_p, loss_of(model, x, 0).item<double>(), 1e-10);
}

TEST(CopyOutputReference, AWordThatHasLostAllWeightIsAsImprobableInTheSearchAsInTheLoss) {
  auto model = copy_model("hard");  // which looks at one position, and at no other
  model.eval();
  const auto x = copy_case();
  const torch::NoGradGuard guard;
  const auto loss = loss_of(model, x, 0).item<double>();
  EXPECT_GT(loss, 80);  // −log of the least float
  const auto begin = torch::full({3, 1}, 2, torch::kLong);
  double log_p = 0;
  for (const auto& hypothesis :
       score_targets(model, x.source, {torch::cat({begin, x.output}, 1)}, false)) {
    log_p += hypothesis.log_probability;
  }
  EXPECT_NEAR(-log_p, loss, 1e-9);
}

TEST(CopyOutputLayer, IsFiniteWhereAllWeightIsLost) {
  auto model = copy_model();
  const auto x = copy_case();
  Computed run(model, x);
  auto weights = torch::zeros_like(run.decoded.weights);
  weights.select(2, 0).fill_(1);
  run.decoded.weights = weights.detach().requires_grad_();
  const auto loss = model.output_layer().loss(run.decoded, run.encoded, x.output, 0).objective;
  EXPECT_TRUE(std::isfinite(loss.item<double>()));
  const auto gradients =
      torch::autograd::grad({loss}, {run.decoded.weights, run.decoded.readout, run.decoded.hidden});
  for (const auto& gradient : gradients) EXPECT_TRUE(gradient.isfinite().all().item<bool>());
}

TEST(CopyOutputLayer, WantsAttentionThatIsADistribution) {
  auto options = small_model(OutputKind::copy);
  for (const std::string kind : {"none", "local_p"}) {
    options.attention.kind = kind_named(kind);
    options.attention.size = 8;
    EXPECT_THROW(check_output_layer(options, {}), ConfigError) << kind;
  }
  for (const std::string kind : {"local_m", "multi_head"}) {
    options.attention.kind = kind_named(kind);
    EXPECT_NO_THROW(check_output_layer(options, {})) << kind;
  }
}

TEST(CopyOutputLayer, WhatTheVocabularyLacksComesOfTheShareThatIsNotGenerated) {
  auto model = copy_model();
  const auto x = copy_case();
  const auto encoded = model.encode(x.source);
  const auto step = model.step(x.input.select(1, 0), model.initial_state(encoded), encoded);
  const auto p_gen = model.output_layer().generation_probability(step, encoded);  // [N]
  const auto P = model.output_layer().logits(step, encoded).softmax(-1);
  const auto alpha = step.weights[0];
  const auto twice = (alpha[1] + alpha[3]).item<double>();  // where the word of id 8 stands
  ASSERT_EQ(p_gen.sizes(), torch::IntArrayRef({3}));
  EXPECT_NEAR(P[0][8].item<double>(), (1 - p_gen[0].item<double>()) * twice, 1e-12);
  EXPECT_NEAR(P[0][9].item<double>(), (1 - p_gen[0].item<double>()) * alpha[2].item<double>(),
              1e-12);
}

}  // namespace
}  // namespace regard::copy_output_reference_test
