#include "metrics/error_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "text/unicode.h"

namespace regard {
namespace {

// The counts of a sentence and of a corpus, for error rates and for exact match.
enum EditCount : std::size_t {
  substitutions,
  deletions,
  insertions,
  reference_length,
  edit_count_size
};
enum LineCount : std::size_t { equal_lines, all_lines, line_count_size };

std::u32string_view without_outer_spaces(std::u32string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

double edits_in(std::span<const double> sums) {
  return sums[substitutions] + sums[deletions] + sums[insertions];
}

}  // namespace

EditCounts count_edits(std::u32string_view reference, std::u32string_view hypothesis) {
  // Row i, cell j: the edits from the first i symbols of the reference to the first j of the
  // hypothesis.
  std::vector<EditCounts> row(hypothesis.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j].insertions = static_cast<std::int64_t>(j);
  for (const auto symbol : reference) {
    auto diagonal = row[0];
    ++row[0].deletions;
    for (std::size_t j = 1; j < row.size(); ++j) {
      auto best = std::exchange(diagonal, row[j]);
      if (hypothesis[j - 1] != symbol) ++best.substitutions;
      auto removed = row[j];
      ++removed.deletions;
      if (removed.sum() < best.sum()) best = removed;
      auto inserted = row[j - 1];
      ++inserted.insertions;
      if (inserted.sum() < best.sum()) best = inserted;
      row[j] = best;
    }
  }
  return row.back();
}

std::string ErrorRate::name() const {
  if (symbols_ == Symbols::words) return "WER";
  return symbols_ == Symbols::characters ? "CER" : "PER";
}

std::string ErrorRate::signature(std::size_t references) const {
  return fmt::format("nrefs:{}|case:mixed|tok:{}|version:regard-{}", references,
                     symbols_ == Symbols::characters ? "char" : "none", version());
}

SentenceCounts ErrorRate::count(const std::vector<std::string>& hypotheses,
                                const References& references) const {
  check_references(hypotheses.size(), references);
  SentenceCounts counts{edit_count_size, {}};
  WordIds ids;
  const auto symbols_of = [&](const std::string& line) {
    const auto text = decode_utf8(line);
    if (symbols_ == Symbols::characters) return std::u32string(without_outer_spaces(text));
    return ids.ids(split_words(text));
  };
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto hypothesis = symbols_of(hypotheses[i]);
    EditCounts best;
    double length = 0;
    for (std::size_t r = 0; r < references.size(); ++r) {
      const auto reference = symbols_of(references[r][i]);
      length += static_cast<double>(reference.size()) / static_cast<double>(references.size());
      const auto edits = count_edits(reference, hypothesis);
      if (r == 0 || edits.sum() < best.sum()) best = edits;
    }
    counts.values.insert(counts.values.end(), {static_cast<double>(best.substitutions),
                                               static_cast<double>(best.deletions),
                                               static_cast<double>(best.insertions), length});
  }
  return counts;
}

double ErrorRate::score(std::span<const double> sums) const {
  const auto edits = edits_in(sums);
  if (sums[reference_length] > 0) return 100 * edits / sums[reference_length];
  return edits > 0 ? 100 : 0;
}

Json ErrorRate::to_json(std::span<const double> sums) const {
  return {{"score", score(sums)},
          {"substitutions", sums[substitutions]},
          {"deletions", sums[deletions]},
          {"insertions", sums[insertions]},
          {"reference_length", sums[reference_length]}};
}

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
