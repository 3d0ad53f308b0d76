#include "metrics/corpus_metric.h"

#include "base/error.h"
#include "base/strings.h"

namespace regard {

void check_references(std::size_t hypotheses, const References& references) {
  if (references.empty()) throw InputError("found no reference; give at least one");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses) continue;
    throw InputError("reference {} has {}, but found {}: give one line for each", r + 1,
                     counted(references[r].size(), "line"), counted(hypotheses, "hypothesis"));
  }
}

std::vector<double> SentenceCounts::sum() const {
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % width] += values[i];
  return sums;
}

}  // namespace regard
