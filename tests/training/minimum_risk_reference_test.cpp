// The objective of minimum risk training against plain numbers, enumeration and central
// differences.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <functional>

#include "model/build_model.h"
#include "model/output/output_layer.h"
#include "model/random_stream.h"
#include "tests/gradcheck.h"
#include "tests/model/attention_kind.h"
#include "tests/model/small_model_options.h"
#include "tests/training/minimum_risk_case.h"
#include "training/training_loss.h"

namespace regard::minimum_risk_reference_test {
namespace {

constexpr std::int64_t V = 8;

ModelOptions small(const std::string& kind) {
  auto options = small_model_options(3);
  options.encoder.hidden_size = 2;
  options.decoder.hidden_size = 4;
  options.output.size = 3;
  options.attention.kind = kind_named(kind);
  return options;
}

ModelOptions transformer() {
  auto options = small("additive");
  for (auto* side : {&options.encoder.self_attention, &options.decoder.self_attention}) {
    side->heads = 2;
    side->feed_forward_size = 5;
  }
  options.encoder.kind = EncoderKind::transformer;
  options.decoder.kind = LayerKind::transformer;
  options.encoder.embedding_dim = options.decoder.embedding_dim = 4;
  options.encoder.hidden_size = options.decoder.hidden_size = 4;
  return options;
}

std::shared_ptr<Seq2Seq> training_model(const ModelOptions& options) {
  torch::manual_seed(7);
  auto model = build_model(V, V, options);
  model->to(torch::kDouble);
  model->train();
  return model;
}

MinimumRisk objective(double alpha, double likelihood_weight) {
  Options options;
  options.training.label_smoothing = 0.1;
  options.training.minimum_risk.alpha = alpha;
  options.training.minimum_risk.likelihood_weight = likelihood_weight;
  return MinimumRisk(options, numbered_words(V));
}

Batch two_sentences() {
  return make_batch(std::vector<Example>{{.index = 0, .source = {4, 5, 6}, .target = {5, 6, 4}},
                                         {.index = 1, .source = {7, 4}, .target = {6}}});
}

CandidateBatch ragged() {
  return with_candidates(two_sentences(), {{{{5, 6, 4}, 0}, {{5}, 0.8}, {{}, 1}, {{6, 6}, 0.7}},
                                           {{{4, 7, 7, 5}, 0.9}, {{6, 5}, 0.2}}});
}

// Q of plain numbers.
std::vector<double> normalised(const std::vector<double>& log_p, double alpha) {
  std::vector<double> Q;
  double total = 0;
  for (const auto x : log_p) total += std::exp(alpha * x);
  for (const auto x : log_p) Q.push_back(std::exp(alpha * x) / total);
  return Q;
}

TEST(ExpectedRiskReference, ValueAndGradientAreThoseOfThePaper) {
  const std::vector<std::vector<double>> log_p = {{-3, -1, -40, -2.5}, {-7}, {-1, -1.5}};
  const std::vector<std::vector<double>> risks = {{0, 0.4, 1, 0.9}, {0.3}, {0.2, 0.6}};
  for (const double alpha : {0.005, 0.5, 2.0}) {
    std::vector<double> flat_p, flat_risks;
    std::vector<std::int64_t> sentences;
    for (std::size_t b = 0; b < log_p.size(); ++b) {
      flat_p.insert(flat_p.end(), log_p[b].begin(), log_p[b].end());
      flat_risks.insert(flat_risks.end(), risks[b].begin(), risks[b].end());
      sentences.insert(sentences.end(), log_p[b].size(), static_cast<std::int64_t>(b));
    }
    const auto variable = torch::tensor(flat_p, torch::kDouble).requires_grad_();
    const auto found = expected_risk(variable, torch::tensor(flat_risks, torch::kDouble),
                                     torch::tensor(sentences, torch::kInt64), 3, alpha);
    found.sum().backward();
    std::size_t n = 0;
    for (std::size_t b = 0; b < log_p.size(); ++b) {
      const auto Q = normalised(log_p[b], alpha);
      double expected = 0;
      for (std::size_t k = 0; k < Q.size(); ++k) expected += Q[k] * risks[b][k];
      EXPECT_NEAR(found[static_cast<std::int64_t>(b)].item<double>(), expected, 1e-12);
      for (std::size_t k = 0; k < Q.size(); ++k) {
        EXPECT_NEAR(variable.grad()[static_cast<std::int64_t>(n++)].item<double>(),
                    alpha * Q[k] * (risks[b][k] - expected), 1e-12);
      }
    }
  }
}

// log P of a candidate, one step of the search after the other.
double stepwise_log_p(Seq2Seq& model, const EncoderOutput& encoded, const Sentence& candidate) {
  auto state = model.initial_state(encoded);
  double log_p = 0;
  auto targets = candidate;
  targets.push_back(eos_id);
  std::int64_t token = bos_id;
  for (const std::int64_t next : targets) {
    auto step = model.step(torch::tensor({token}), state, encoded);
    log_p += model.output_layer().logits(step, encoded).log_softmax(-1)[0][next].item<double>();
    state = std::move(step.state);
    token = next;
  }
  return log_p;
}

TEST(MinimumRiskReference, TheObjectiveIsThatOfAllTranslationsEnumerated) {
  std::vector<Judged> all = {{{}, 1}};
  for (std::int32_t first = 4; first < V; ++first) {
    all.push_back({{first}, 0.1 * first});
    for (std::int32_t second = 4; second < V; ++second) {
      all.push_back({{first, second}, 0.05 * first + 0.03 * second});
    }
  }
  const auto candidates = with_candidates(two_sentences(), {all, all});
  for (const auto& options : {small("additive"), small("none"), transformer()}) {
    const auto model = training_model(options);
    const double alpha = 0.7;
    double expected = 0;
    const auto& batch = candidates.batch;
    for (std::int64_t b = 0; b < 2; ++b) {
      const torch::NoGradGuard guard;
      const auto alone = batch.range(b, b + 1);
      const auto encoded = model->encode(alone.source);
      std::vector<double> log_p;
      for (const auto& [tokens, risk] : all) {
        log_p.push_back(stepwise_log_p(*model, encoded, tokens));
      }
      const auto Q = normalised(log_p, alpha);
      for (std::size_t k = 0; k < all.size(); ++k) expected += Q[k] * all[k].risk;
    }
    const auto found = objective(alpha, 0).loss(*model, candidates);
    EXPECT_NEAR(found.risk.item<double>(), expected, 1e-10);
    EXPECT_NEAR(found.loss.objective.item<double>(), expected / alpha, 1e-10);
    const auto likelihood = batch_loss(*model, batch, 0);
    EXPECT_TRUE(torch::allclose(found.loss.nll, likelihood.nll, 1e-10, 1e-10));
  }
}

TEST(MinimumRiskReference, TheLikelihoodIsAddedWithItsWeight) {
  const auto model = training_model(small("additive"));
  const auto with = objective(0.5, 0.3).loss(*model, ragged()).loss.objective.item<double>();
  const auto without = objective(0.5, 0).loss(*model, ragged()).loss.objective.item<double>();
  const auto likelihood = batch_loss(*model, two_sentences(), 0.1).objective.item<double>();
  EXPECT_NEAR(with - without, 0.3 * likelihood, 1e-10);
}

// The penalty of coverage is the mean over the candidates of a sentence: that of the likelihood for
// the references as the only candidates.
TEST(MinimumRiskReference, ThePenaltyOfCoverageIsTheMeanOverTheCandidates) {
  auto options = small("coverage");
  const auto plain = training_model(options);
  options.attention.coverage_loss = 0.5;
  const auto penalised = training_model(options);
  const auto penalty = [&](const CandidateBatch& candidates) {
    return (objective(0.5, 0).loss(*penalised, candidates).loss.objective -
            objective(0.5, 0).loss(*plain, candidates).loss.objective)
        .item<double>();
  };
  const auto of_references = (batch_loss(*penalised, two_sentences(), 0).objective -
                              batch_loss(*plain, two_sentences(), 0).objective)
                                 .item<double>();
  ASSERT_GT(of_references, 0.01);
  const std::vector<Judged> first = {{{5, 6, 4}, 0}}, second = {{{6}, 0}};
  const std::vector<Judged> twice = {{{5, 6, 4}, 0}, {{5, 6, 4}, 0}};
  for (const auto& of_first : {first, twice}) {
    EXPECT_NEAR(penalty(with_candidates(two_sentences(), {of_first, second})), of_references,
                1e-10);
  }
  EXPECT_NEAR(penalty(ragged()) - penalty(with_candidates(
                                      two_sentences(), {first, {{{4, 7, 7, 5}, 0}, {{6, 5}, 0}}})),
              penalty(with_candidates(two_sentences(),
                                      {{{{5, 6, 4}, 0}, {{5}, 0}, {{}, 0}, {{6, 6}, 0}}, second})) -
                  of_references,
              1e-10);
}

// Returns the parameters that the likelihood trains too. A pointer network has others.
std::vector<std::pair<std::string, torch::Tensor>> trained_tensors(Seq2Seq& model,
                                                                   const Batch& batch) {
  batch_loss(model, batch, 0).objective.backward();
  auto tensors = named_tensors(model);
  std::erase_if(tensors, [](const auto& named) { return !named.second.grad().defined(); });
  return tensors;
}

void expect_gradients_match_differences(const ModelOptions& options,
                                        const CandidateBatch& candidates) {
  const auto model = training_model(options);
  const auto tensors = trained_tensors(*model, candidates.batch);
  for (const double likelihood_weight : {0.0, 0.2}) {
    const auto risk = objective(0.5, likelihood_weight);
    expect_gradients_match(
        [&] {
          const RandomStream same_draws(2, 1);
          return risk.loss(*model, candidates).loss.objective;
        },
        tensors, 1e-5);
  }
}

TEST(MinimumRiskReference, GradientsOfRecurrentModelsEqualCentralDifferences) {
  for (const std::string kind : {"additive", "general", "local_p", "ntm", "coverage", "monotonic",
                                 "location_aware", "none"}) {
    SCOPED_TRACE(kind);
    auto options = small(kind);
    if (kind == "coverage") options.attention.coverage_loss = 0.5;
    expect_gradients_match_differences(options, ragged());
  }
}

TEST(MinimumRiskReference, GradientsOfATransformerEqualCentralDifferences) {
  expect_gradients_match_differences(transformer(), ragged());
}

TEST(MinimumRiskReference, GradientsWithDropoutEqualCentralDifferences) {
  auto options = small("additive");
  options.dropout = {.embeddings = 0.3, .states = 0.3, .readout = 0.3, .tokens = 0.2};
  expect_gradients_match_differences(options, ragged());
}

TEST(MinimumRiskReference, GradientsOfACopyOutputEqualCentralDifferences) {
  auto options = small("additive");
  options.output.kind = OutputKind::copy;
  // V and V + 1 are words outside the vocabulary, the second of the first sentence only.
  const auto batch = make_batch(std::vector<Example>{
      {.index = 0, .source = {4, 1, 1}, .target = {V, 6}, .extended_ids = {5, V, V + 1, 3}},
      {.index = 1, .source = {1, 4}, .target = {6}, .extended_ids = {V, 4, 3}}});
  expect_gradients_match_differences(
      options, with_candidates(batch, {{{{V, 6}, 0}, {{V + 1, V + 1}, 0.6}, {{4}, 1}},
                                       {{{6}, 0}, {{V}, 0.5}, {{5, 6}, 0.4}}}));
}

TEST(MinimumRiskReference, GradientsOfAPointerNetworkEqualCentralDifferences) {
  auto options = small("additive");
  options.output.kind = OutputKind::pointer;
  options.tied_embeddings = TiedEmbeddings::none;
  const auto batch =
      make_batch(std::vector<Example>{{.index = 0, .source = {4, 5, 6}, .target = {6, 4, 5}},
                                      {.index = 1, .source = {7, 4}, .target = {5, 4}}});
  expect_gradients_match_differences(
      options, with_candidates(batch, {{{{6, 4, 5}, 0}, {{4}, 0.6}, {{4, 5, 6}, 1}},
                                       {{{5, 4}, 0}, {{4, 5}, 0.5}}}));
}

}  // namespace
}  // namespace regard::minimum_risk_reference_test
