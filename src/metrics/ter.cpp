#include "metrics/ter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/version.h"
#include "metrics/ngrams.h"
#include "metrics/ter_edits.h"
#include "text/unicode.h"

namespace regard {

namespace {

// Returns the ids of the tokens of a line.
std::u32string tokenize(const std::string& line, const TerOptions& options, WordIds& word_ids) {
  std::u32string text = decode_utf8(line);
  while (!text.empty() && is_space(text.back())) text.pop_back();
  text = tokenize_for_ter(text, options);
  return word_ids.ids(split_words(text));
}

TerStatistics statistics_from_sums(std::span<const double> sums) {
  return {static_cast<std::int64_t>(sums[0]), sums[1]};
}

}  // namespace

TerStatistics& TerStatistics::operator+=(const TerStatistics& other) {
  edits += other.edits;
  reference_length += other.reference_length;
  return *this;
}

std::vector<TerStatistics> ter_statistics(const std::vector<std::string>& hypotheses,
                                          const References& references, const TerOptions& options) {
  check_references(hypotheses.size(), references);
  WordIds word_ids;
  std::vector<TerStatistics> statistics;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto hypothesis = tokenize(hypotheses[i], options, word_ids);
    TerStatistics sentence{std::numeric_limits<std::int64_t>::max(), 0};
    for (const auto& lines : references) {
      const auto reference = tokenize(lines[i], options, word_ids);
      sentence.edits = std::min(sentence.edits, count_ter_edits(hypothesis, reference));
      sentence.reference_length += static_cast<double>(reference.size());
    }
    sentence.reference_length /= static_cast<double>(references.size());
    statistics.push_back(sentence);
  }
  return statistics;
}

double compute_ter(const TerStatistics& statistics) {
  if (statistics.reference_length > 0) {
    return 100 * (static_cast<double>(statistics.edits) / statistics.reference_length);
  }
  return statistics.edits > 0 ? 100 : 0;
}

double corpus_ter(const std::vector<std::string>& hypotheses, const References& references,
                  const TerOptions& options) {
  TerStatistics sum;
  for (const auto& sentence : ter_statistics(hypotheses, references, options)) sum += sentence;
  return compute_ter(sum);
}

double sentence_ter(const std::string& hypothesis, const std::vector<std::string>& references,
                    const TerOptions& options) {
  References columns;
  for (const auto& reference : references) columns.push_back({reference});
  return corpus_ter({hypothesis}, columns, options);
}

std::string ter_signature(const TerOptions& options, std::size_t references) {
  const auto yes_no = [](bool value) { return value ? "yes" : "no"; };
  return fmt::format("nrefs:{}|case:{}|tok:tercom|norm:{}|punct:{}|asian:{}|version:regard-{}",
                     references, options.case_sensitive ? "mixed" : "lc",
                     yes_no(options.normalized), yes_no(!options.no_punctuation),
                     yes_no(options.asian_support), version());
}

std::string Ter::signature(std::size_t references) const {
  return ter_signature(options_, references);
}

SentenceCounts Ter::count(const std::vector<std::string>& hypotheses,
                          const References& references) const {
  SentenceCounts counts{2, {}};
  for (const auto& [edits, length] : ter_statistics(hypotheses, references, options_)) {
    counts.values.insert(counts.values.end(), {static_cast<double>(edits), length});
  }
  return counts;
}

double Ter::score(std::span<const double> sums) const {
  return compute_ter(statistics_from_sums(sums));
}

Json Ter::to_json(std::span<const double> sums) const {
  const auto statistics = statistics_from_sums(sums);
  return {{"score", compute_ter(statistics)},
          {"edits", statistics.edits},
          {"reference_length", statistics.reference_length}};
}

}  // namespace regard
