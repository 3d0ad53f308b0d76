// Exact match, for short outputs of which one is right, such as captions of drawn scenes:
//
//   100 · (lines that are equal to a reference) / lines
//
// Lines are compared byte by byte; nothing is normalised. 100 is best. The score of no lines is 0.
#pragma once

#include <string>
#include <vector>

#include "metrics/corpus_metric.h"

namespace regard {

class ExactMatch final : public CorpusMetric {
 public:
  std::string name() const override { return "exact"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;
};

}  // namespace regard
