#include "commands/evaluation.h"

#include <fmt/format.h>

#include <cmath>

namespace regard {
namespace {

bool needs_bootstrap(const EvaluationPlan& plan) {
  return plan.confidence || plan.test == PairedTest::bootstrap;
}

// One system's counts and, for the bootstrap, the scores of its resamples.
struct Sample {
  SentenceCounts counts;
  std::vector<double> scores;
};

Sample sample(const CorpusMetric& metric, const std::vector<std::string>& hypotheses,
              const References& references, const EvaluationPlan& plan) {
  Sample sample{metric.count(hypotheses, references), {}};
  if (needs_bootstrap(plan))
    sample.scores = bootstrap_scores(metric, sample.counts, plan.resampling);
  return sample;
}

Score score_of(const CorpusMetric& metric, const Sample& sample) {
  Score score;
  score.counts = sample.counts;
  score.sums = sample.counts.sum();
  score.score = metric.score(score.sums);
  if (!sample.scores.empty()) score.confidence = confidence_interval(sample.scores);
  return score;
}

double p_value(const CorpusMetric& metric, const Sample& baseline, const Sample& system,
               const EvaluationPlan& plan) {
  if (plan.test == PairedTest::randomisation) {
    return approximate_randomisation(metric, baseline.counts, system.counts, plan.resampling);
  }
  const double difference =
      std::abs(metric.score(baseline.counts.sum()) - metric.score(system.counts.sum()));
  return paired_bootstrap(baseline.scores, system.scores, difference);
}

}  // namespace

void check_metrics(const EvaluationPlan& plan) {
  for (const auto& name : plan.metrics) make_metric(name, plan.options);
}

Evaluation score_systems(const Systems& systems, const References& references,
                         const EvaluationPlan& plan) {
  Evaluation evaluation;
  evaluation.plan = plan;
  evaluation.sentences = systems.front().second.size();
  evaluation.references = references.size();
  for (const auto& [name, hypotheses] : systems) evaluation.systems.push_back({name, {}, {}, {}});
  for (const auto& name : plan.metrics) {
    evaluation.metrics.push_back(make_metric(name, plan.options));
    const auto& metric = *evaluation.metrics.back();
    const auto baseline = sample(metric, systems.front().second, references, plan);
    evaluation.systems.front().scores.push_back(score_of(metric, baseline));
    for (std::size_t s = 1; s < systems.size(); ++s) {
      const auto system = sample(metric, systems[s].second, references, plan);
      auto& scores = evaluation.systems[s].scores;
      scores.push_back(score_of(metric, system));
      if (plan.test != PairedTest::none) scores.back().p = p_value(metric, baseline, system, plan);
    }
  }
  return evaluation;
}

std::vector<CountedMetric> counted_metrics(const Evaluation& evaluation, std::size_t system) {
  std::vector<CountedMetric> counted;
  for (std::size_t m = 0; m < evaluation.metrics.size(); ++m) {
    counted.push_back({evaluation.metrics[m].get(), &evaluation.systems[system].scores[m].counts});
  }
  return counted;
}

std::string signature_of(const CorpusMetric& metric, const Evaluation& evaluation) {
  const auto& plan = evaluation.plan;
  std::string resampling;
  if (needs_bootstrap(plan)) resampling += fmt::format("bs:{}|", plan.resampling.resamples);
  if (plan.test == PairedTest::randomisation) {
    resampling += fmt::format("ar:{}|", plan.resampling.trials);
  }
  if (!resampling.empty()) resampling += fmt::format("seed:{}|", plan.resampling.seed);
  auto signature = metric.signature(evaluation.references);
  return signature.insert(signature.find('|') + 1, resampling);
}

}  // namespace regard
