#include "metrics/system_scores.h"

#include <fmt/format.h>

#include <cmath>

namespace regard {
namespace {

bool needs_bootstrap(const EvaluationOptions& options) {
  return options.confidence || options.test == PairedTest::bootstrap;
}

// The counts of one system and, if a bootstrap is needed, the scores of its resamples.
struct ResampledCounts {
  SentenceCounts counts;
  std::vector<double> resample_scores;
};

ResampledCounts count_and_resample(const CorpusMetric& metric,
                                   const std::vector<std::string>& hypotheses,
                                   const References& references, const EvaluationOptions& options) {
  ResampledCounts system{metric.count(hypotheses, references), {}};
  if (needs_bootstrap(options))
    system.resample_scores = bootstrap_scores(metric, system.counts, options.resampling);
  return system;
}

MetricScore score_of(const CorpusMetric& metric, const ResampledCounts& system) {
  MetricScore score;
  score.counts = system.counts;
  score.sums = system.counts.sum();
  score.value = metric.score(score.sums);
  if (!system.resample_scores.empty()) {
    score.confidence = confidence_interval(system.resample_scores);
  }
  return score;
}

double bootstrap_p_value(const CorpusMetric& metric, const ResampledCounts& baseline,
                         const ResampledCounts& system, const EvaluationOptions& options) {
  if (options.test == PairedTest::randomisation) {
    return approximate_randomisation(metric, baseline.counts, system.counts, options.resampling);
  }
  const double difference =
      std::abs(metric.score(baseline.counts.sum()) - metric.score(system.counts.sum()));
  return paired_bootstrap(baseline.resample_scores, system.resample_scores, difference);
}

}  // namespace

EvaluationOptions evaluation_options(const std::vector<std::string>& metrics,
                                     const MetricSettings& settings) {
  EvaluationOptions options;
  options.metrics = metrics;
  auto& [bleu, chrf, ter] = options.metric_options;
  bleu.tokenizer = settings.tokenize;
  bleu.smoothing = settings.smooth_method;
  if (settings.smooth_value >= 0) bleu.smoothing_value = settings.smooth_value;
  bleu.lowercase = settings.lowercase;
  bleu.effective_order = settings.sentence_level;  // as sacreBLEU
  if (!settings.spm_model.empty()) load_pieces(settings.spm_model, bleu);
  chrf = {static_cast<std::size_t>(settings.chrf_char_order),
          static_cast<std::size_t>(settings.chrf_word_order), settings.chrf_beta,
          settings.lowercase};
  ter = {settings.ter_normalized, settings.ter_no_punct, settings.ter_asian_support,
         settings.ter_case_sensitive};
  options.confidence = settings.confidence;
  if (settings.paired_bs) options.test = PairedTest::bootstrap;
  if (settings.paired_ar) options.test = PairedTest::randomisation;
  options.resampling = {static_cast<std::size_t>(settings.resamples),
                        static_cast<std::size_t>(settings.trials),
                        static_cast<std::uint64_t>(settings.resampling_seed)};
  for (const auto& name : metrics) make_metric(name, options.metric_options);
  return options;
}

Evaluation score_systems(const Systems& systems, const References& references,
                         const EvaluationOptions& options) {
  Evaluation evaluation;
  evaluation.options = options;
  evaluation.sentences = systems.front().second.size();
  evaluation.references = references.size();
  for (const auto& [name, hypotheses] : systems) evaluation.systems.emplace_back().name = name;
  for (const auto& name : options.metrics) {
    evaluation.metrics.push_back(make_metric(name, options.metric_options));
    const auto& metric = *evaluation.metrics.back();
    const auto baseline = count_and_resample(metric, systems.front().second, references, options);
    evaluation.systems.front().scores.push_back(score_of(metric, baseline));
    for (std::size_t s = 1; s < systems.size(); ++s) {
      const auto system = count_and_resample(metric, systems[s].second, references, options);
      auto& scores = evaluation.systems[s].scores;
      scores.push_back(score_of(metric, system));
      if (options.test != PairedTest::none)
        scores.back().p_value = bootstrap_p_value(metric, baseline, system, options);
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
  const auto& options = evaluation.options;
  std::string resampling;
  if (needs_bootstrap(options)) resampling += fmt::format("bs:{}|", options.resampling.resamples);
  if (options.test == PairedTest::randomisation) {
    resampling += fmt::format("ar:{}|", options.resampling.trials);
  }
  if (!resampling.empty()) resampling += fmt::format("seed:{}|", options.resampling.seed);
  auto signature = metric.signature(evaluation.references);
  return signature.insert(signature.find('|') + 1, resampling);
}

}  // namespace regard
