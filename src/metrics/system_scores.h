// Scores the translations of one system, or compares several systems with the first.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/metric_settings.h"
#include "metrics/alignment.h"
#include "metrics/metric_factory.h"
#include "metrics/score_buckets.h"
#include "metrics/significance.h"

namespace regard {

enum class PairedTest { none, bootstrap, randomisation };

// The metrics, intervals and tests to compute.
struct EvaluationOptions {
  std::vector<std::string> metrics;  // names, see metrics/metric_factory.h
  MetricOptions metric_options;
  bool confidence = false;  // interval of each score; the paired bootstrap always computes it
  PairedTest test = PairedTest::none;
  Resampling resampling;
};

struct MetricScore {
  double value = 0;
  SentenceCounts counts;     // for each sentence
  std::vector<double> sums;  // of `counts`
  std::optional<ConfidenceInterval> confidence;
  std::optional<double> p_value;  // p-value of the difference from the baseline
};

// Scores of a model for the first reference, as if it had produced this translation.
struct ReferenceScores {
  std::optional<double> perplexity;         // per token, with </s>
  std::optional<AlignmentScore> alignment;  // of the model's attention
};

struct SystemEvaluation {
  std::string name;
  std::vector<MetricScore> scores;            // one per metric
  ReferenceScores reference;                  // empty without a model
  std::vector<LengthBucket> by_length;        // empty if not requested
  std::vector<LabelBucket> by_label;          // empty if not requested
  std::vector<FrequencyBucket> by_frequency;  // empty if not requested
};

struct Evaluation {
  EvaluationOptions options;
  std::size_t sentences = 0;   // per system
  std::size_t references = 0;  // per sentence
  std::vector<std::unique_ptr<const CorpusMetric>> metrics;
  std::vector<SystemEvaluation> systems;  // the first is the baseline
  std::vector<std::string> ensemble;      // the models of the first system if it is an ensemble
};

// System names with their translations.
using Systems = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Returns the options of these metrics. Reads the model of `spm_model`. Throws ConfigError for an
// unknown metric. check_metric_settings() tells whether the settings fit the metrics.
EvaluationOptions evaluation_options(const std::vector<std::string>& metrics,
                                     const MetricSettings& settings);
// Computes every metric of every system. Leaves the buckets and the reference scores empty.
Evaluation score_systems(const Systems& systems, const References& references,
                         const EvaluationOptions& options);
// Returns every metric with its counts for a system, for score_by_length() and score_by_label().
// The pointers are into `evaluation`.
std::vector<CountedMetric> counted_metrics(const Evaluation& evaluation, std::size_t system);
// Returns the metric's signature with resamples or trials and the seed, in sacreBLEU's format.
std::string signature_of(const CorpusMetric& metric, const Evaluation& evaluation);

}  // namespace regard
