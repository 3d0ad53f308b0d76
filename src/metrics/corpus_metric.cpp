#include "metrics/corpus_metric.h"

namespace regard {

std::vector<double> SentenceCounts::sum() const {
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % width] += values[i];
  return sums;
}

}  // namespace regard
