#include "training/minimum_risk.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <map>
#include <set>

#include "metrics/metric_factory.h"
#include "model/build_model.h"
#include "tests/model/small_model_options.h"
#include "tests/training/minimum_risk_case.h"
#include "training/train_step.h"

namespace regard::training_minimum_risk_test {
namespace {

constexpr std::int64_t V = 12;

std::vector<Example> examples() {
  return {{0, {4, 5, 6, 7, 8}, {5, 6}},
          {1, {9, 10}, {4, 4, 4, 7, 8, 9}},
          {2, {11, 4, 5}, {6}},
          {3, {7}, {8, 9, 10}},
          {4, {5, 5, 6}, {7, 7, 7, 7}}};
}

std::shared_ptr<Seq2Seq> small_model(double dropout = 0) {
  torch::manual_seed(1);
  auto options = small_model_options(8);
  options.dropout = {dropout, dropout, dropout};
  auto model = build_model(V, V, options);
  model->to(torch::kDouble);
  return model;
}

Options risk_options() {
  Options options;
  options.training.objective = Objective::minimum_risk;
  options.training.minimum_risk.samples = 6;
  options.search.max_output_length = 12;
  options.training.optimizer = OptimizerKind::sgd;
  options.training.clip_grad_norm = 0;
  return options;
}

std::vector<CandidateBatch> sampled(Seq2Seq& model, const Options& options, const Batch& batch,
                                    std::int64_t step) {
  const EvaluationMode guard(model);
  kernels::PackedWeights packed;
  return MinimumRisk(options, numbered_words(V)).sample(model, batch, step, packed);
}

// The candidates of each sentence, by the index of the sentence.
std::map<std::int64_t, std::vector<Judged>> by_sentence(const std::vector<CandidateBatch>& parts) {
  std::map<std::int64_t, std::vector<Judged>> all;
  for (const auto& part : parts) {
    for (std::int64_t n = 0; n < part.tokens.size(0); ++n) {
      Judged candidate{{}, part.risks[n].item<double>()};
      for (std::int64_t t = 1; part.tokens[n][t].item<std::int64_t>() != eos_id; ++t) {
        candidate.tokens.push_back(part.tokens[n][t].item<std::int32_t>());
      }
      const auto row = part.sentences[n].item<std::int64_t>();
      all[part.batch.indices[static_cast<std::size_t>(row)]].push_back(candidate);
    }
  }
  return all;
}

std::string text_of(const Sentence& tokens) {
  std::string text;
  for (const auto token : tokens) {
    if (token >= 4) text += (text.empty() ? "w" : " w") + std::to_string(token);
    if (token == unk_id) text += text.empty() ? "<unk>" : " <unk>";
  }
  return text;
}

TEST(MinimumRisk, CandidatesAreDistinctAndIncludeTheReferenceFirst) {
  const auto model = small_model();
  const auto all = by_sentence(sampled(*model, risk_options(), make_batch(examples()), 1));
  ASSERT_EQ(all.size(), 5u);
  for (const auto& [index, candidates] : all) {
    EXPECT_EQ(candidates[0].tokens, examples()[static_cast<std::size_t>(index)].target);
    EXPECT_NEAR(candidates[0].risk, 0, 1e-12);
    EXPECT_GT(candidates.size(), 1u);
    EXPECT_LE(candidates.size(), 7u);
    std::set<Sentence> distinct;
    for (const auto& candidate : candidates) {
      EXPECT_TRUE(distinct.insert(candidate.tokens).second);
      EXPECT_LT(candidate.tokens.size(), 12u);
    }
  }
}

TEST(MinimumRisk, WithoutIncludeReferenceOnlySamplesAreCandidates) {
  const auto model = small_model();
  auto options = risk_options();
  const auto with = by_sentence(sampled(*model, options, make_batch(examples()), 1));
  options.training.minimum_risk.include_reference = false;
  const auto without = by_sentence(sampled(*model, options, make_batch(examples()), 1));
  for (const auto& [index, candidates] : without) {
    const auto& all = with.at(index);
    EXPECT_EQ(candidates, std::vector<Judged>(all.begin() + 1, all.end()));
  }
}

TEST(MinimumRisk, TheRiskIsOneMinusTheSentenceScoreOfTheText) {
  const auto model = small_model();
  MetricOptions metric_options;
  metric_options.bleu.effective_order = true;
  const auto bleu = make_metric("bleu", metric_options);
  const auto chrf = make_metric("chrf", metric_options);
  for (const auto metric : {RiskMetric::bleu, RiskMetric::chrf}) {
    auto options = risk_options();
    options.training.minimum_risk.metric = metric;
    bool some_between = false;
    for (const auto& [index, candidates] :
         by_sentence(sampled(*model, options, make_batch(examples()), 1))) {
      const auto reference = text_of(examples()[static_cast<std::size_t>(index)].target);
      for (const auto& [tokens, risk] : candidates) {
        const auto score = corpus_score(metric == RiskMetric::bleu ? *bleu : *chrf,
                                        {text_of(tokens)}, {{reference}});
        EXPECT_NEAR(risk, 1 - score / 100, 1e-12);
        some_between = some_between || (risk > 0.01 && risk < 0.99);
      }
    }
    EXPECT_TRUE(some_between);
  }
}

TEST(MinimumRisk, SamplesDependOnSeedStepAndSentenceAlone) {
  const auto model = small_model();
  const auto options = risk_options();
  const auto batch = make_batch(examples());
  const auto whole = by_sentence(sampled(*model, options, batch, 3));
  EXPECT_EQ(by_sentence(sampled(*model, options, batch, 3)), whole);
  EXPECT_NE(by_sentence(sampled(*model, options, batch, 4)), whole);
  auto other_seed = options;
  other_seed.training.random_seed += 1;
  EXPECT_NE(by_sentence(sampled(*model, other_seed, batch, 3)), whole);
  for (std::int64_t w = 0; w < 2; ++w) {
    for (const auto& [index, candidates] :
         by_sentence(sampled(*model, options, batch.shard(w, 2), 3))) {
      EXPECT_EQ(candidates, whole.at(index));
    }
  }
}

TEST(MinimumRisk, CandidatesComeInPartsOfLimitedSize) {
  const auto model = small_model();
  auto options = risk_options();
  options.training.minimum_risk.samples = 100;
  const auto parts = sampled(*model, options, make_batch(examples()), 1);
  EXPECT_GT(parts.size(), 1u);
  for (const auto& part : parts) {
    EXPECT_TRUE(part.batch.size() == 1 || part.tokens.narrow(1, 1, 1).numel() <= 1024);
    EXPECT_EQ(part.sentences.max().item<std::int64_t>() + 1, part.batch.size());
  }
  EXPECT_EQ(by_sentence(parts).size(), 5u);
}

// The gradient of a step in double precision, by descent with rate 1.
struct RiskStep {
  explicit RiskStep(double dropout = 0) : model(small_model(dropout)) { model->train(); }

  StepResult run(const std::vector<Batch>& batches, std::size_t threads, std::int64_t step = 1) {
    ThreadPool pool(threads);
    ProcessGroup alone;
    TrainedModel trained(model, options.training);
    const MinimumRisk minimum_risk(options, numbered_words(V));
    return train_step(trained, batches, {step, 1, 0, {}, &minimum_risk}, options.training, pool,
                      alone);
  }
  torch::Tensor weights() const {
    std::vector<torch::Tensor> flat;
    for (const auto& [name, tensor] : parameters_of(*model)) {
      flat.push_back(tensor.detach().flatten());
    }
    return torch::cat(flat);
  }

  Options options = risk_options();
  std::shared_ptr<Seq2Seq> model;
};

TEST(MinimumRiskStep, TheNumberOfThreadsAndHalvesOfBatchesChangeNothingButRounding) {
  RiskStep one, three, many, halves;
  const auto before = one.weights();
  std::vector<Batch> batches = {make_batch(examples())};
  const auto alone = one.run(batches, 1);
  const auto shared = three.run(batches, 3);
  many.run(batches, 8);  // more threads than sentences
  ASSERT_TRUE(halve_batches(batches));
  halves.run(batches, 2);
  EXPECT_FALSE(torch::allclose(one.weights(), before));
  for (const auto* other : {&three, &many, &halves}) {
    EXPECT_TRUE(torch::allclose(one.weights(), other->weights(), 1e-9, 1e-11));
  }
  EXPECT_NEAR(alone.nll, shared.nll, 1e-9);
  EXPECT_NEAR(alone.risk, shared.risk, 1e-9);
  EXPECT_GT(alone.risk, 0);
  EXPECT_LT(alone.risk, 5);
  EXPECT_EQ(alone.sentences, 5);
  EXPECT_EQ(alone.target_tokens, 21);
  EXPECT_TRUE(one.model->is_training());
}

TEST(MinimumRiskStep, TheSameSeedAndStepHaveTheSameBytes) {
  RiskStep first(0.5), same(0.5), later(0.5);
  const auto batch = make_batch(examples());
  first.run({batch, batch}, 2, 3);
  same.run({batch, batch}, 2, 3);
  later.run({batch, batch}, 2, 4);
  EXPECT_TRUE(torch::equal(first.weights(), same.weights()));
  EXPECT_FALSE(torch::allclose(first.weights(), later.weights()));
}

}  // namespace
}  // namespace regard::training_minimum_risk_test
