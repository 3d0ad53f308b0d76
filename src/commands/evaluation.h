// The figures of one evaluation: of one system's translations, or of several against the first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/alignment_error.h"
#include "metrics/by_frequency.h"
#include "metrics/by_length.h"
#include "metrics/significance.h"
#include "metrics/table.h"

namespace regard {

enum class PairedTest { none, bootstrap, randomisation };

// What is asked for.
struct EvaluationPlan {
  std::vector<std::string> metrics;  // their names, metrics/table.h
  MetricOptions options;
  bool confidence = false;  // of each score; the paired bootstrap tells it anyway
  PairedTest test = PairedTest::none;
  Resampling resampling;
};

struct Score {
  double score = 0;
  SentenceCounts counts;     // for each sentence
  std::vector<double> sums;  // of these counts
  std::optional<ConfidenceInterval> confidence;
  std::optional<double> p;  // of the difference from the first system
};

struct SystemEvaluation {
  std::string name;
  std::vector<Score> scores;                  // one a metric
  std::vector<LengthBucket> by_length;        // empty where not asked for
  std::vector<FrequencyBucket> by_frequency;  // empty where not asked for
};

// What a model makes of the first reference.
struct ReferenceFigures {
  std::optional<double> perplexity;         // for each of its tokens
  std::optional<AlignmentScore> alignment;  // of the model's attention on it
};

struct Evaluation {
  EvaluationPlan plan;
  std::size_t sentences = 0;
  std::size_t references = 0;
  std::vector<std::unique_ptr<const CorpusMetric>> metrics;
  std::vector<SystemEvaluation> systems;  // the first is what the others are compared with
  ReferenceFigures reference;
};

// Translations under the name of their system.
using Systems = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Throws ConfigError for metrics that are none.
void check_metrics(const EvaluationPlan& plan);
// Every metric of every system; the rest is left as it is.
Evaluation score_systems(const Systems& systems, const References& references,
                         const EvaluationPlan& plan);
// Every metric with its counts for a system, for score_by_length(). They point into `evaluation`.
std::vector<CountedMetric> counted_metrics(const Evaluation& evaluation, std::size_t system);
// With the resamples or trials and the seed where sacreBLEU has them.
std::string signature_of(const CorpusMetric& metric, const Evaluation& evaluation);

}  // namespace regard
