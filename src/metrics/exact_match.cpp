#include "metrics/exact_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"

namespace regard {
namespace {

// The counts of a sentence and of a corpus.
enum LineCount : std::size_t { equal_lines, all_lines, line_count_size };

}  // namespace

std::string ExactMatch::signature(std::size_t references) const {
  return fmt::format("nrefs:{}|case:mixed|tok:none|version:regard-{}", references, version());
}

SentenceCounts ExactMatch::count(const std::vector<std::string>& hypotheses,
                                 const References& references) const {
  check_references(hypotheses.size(), references);
  SentenceCounts counts{line_count_size, {}};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const bool is_equal = std::ranges::any_of(
        references, [&](const auto& reference) { return reference[i] == hypotheses[i]; });
    counts.values.insert(counts.values.end(), {is_equal ? 1.0 : 0.0, 1.0});
  }
  return counts;
}

double ExactMatch::score(std::span<const double> sums) const {
  return sums[all_lines] > 0 ? 100 * sums[equal_lines] / sums[all_lines] : 0;
}

Json ExactMatch::to_json(std::span<const double> sums) const {
  return {{"score", score(sums)}, {"equal", sums[equal_lines]}, {"lines", sums[all_lines]}};
}

}  // namespace regard
