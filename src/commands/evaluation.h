// The figures of one evaluation, as a person reads them, as JSON, and as a chart.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "metrics/alignment_error.h"
#include "metrics/by_length.h"
#include "metrics/table.h"

namespace regard {

struct Evaluation {
  std::size_t sentences = 0;
  std::size_t references = 0;
  MetricOptions options;
  BleuScore bleu;
  double chrf = 0;
  std::optional<double> perplexity;         // of the first reference, for each of its tokens
  std::optional<AlignmentScore> alignment;  // of the model's attention on the first reference
  std::string name;                         // of what is scored, in tables and charts
  std::vector<LengthBucket> by_length;      // empty where not asked for
  // Other translations of the same source, by length as well.
  std::vector<std::pair<std::string, std::vector<LengthBucket>>> compared;
};

// BLEU and chrF; the rest is left as it is.
Evaluation evaluate_texts(const std::vector<std::string>& hypotheses, const References& references,
                          const MetricOptions& options);

std::string to_text(const Evaluation& evaluation);
Json to_json(const Evaluation& evaluation);
// BLEU over the source's length as an SVG file, a line for each of the translations compared; empty
// buckets are gaps.
std::string by_length_svg(const Evaluation& evaluation);

}  // namespace regard
