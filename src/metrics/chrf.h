// chrF (Popović 2015) and chrF++ (Popović 2017). Scores equal those of sacreBLEU 2.
//
//   chrF_β = (1 + β²) P R / (β² P + R)
//
// P and R are the means of n-gram precision and recall over the character orders, and for chrF++
// also over the word orders. Orders that the system or the reference is too short for are ignored
// (effective order). Character n-grams are counted without white space. If a sentence has several
// references, the one with the best sentence score is used, the first of equal ones. Counts are
// summed over the corpus first. Scores range from 0 to 100.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/corpus_metric.h"

namespace regard {

struct ChrfOptions {
  std::size_t char_order = 6;
  std::size_t word_order = 0;  // 2: chrF++
  double beta = 2;             // weight of recall relative to precision
  bool lowercase = false;
};

// The symbols of a line whose n-grams are counted.
struct ChrfSymbols {
  std::u32string characters;  // without white space
  std::u32string words;       // ids of words and punctuation marks; empty unless word_order > 0
};
ChrfSymbols chrf_symbols(const std::string& line, const ChrfOptions& options, WordIds& word_ids);

// The counts of one order. A sentence has those of the character orders, then those of the word
// orders. The counts of a corpus are the sums of those of its sentences.
enum ChrfCount : std::size_t {
  chrf_system,  // n-grams; 0 also if the reference has none, so that the order is ignored
  chrf_reference,
  chrf_matches,
  chrf_count_size
};

// Returns the score of a corpus with these counts; 0 if there are no matches.
double compute_chrf(std::span<const double> counts, const ChrfOptions& options = {});

// Returns chrF, beta, and one + per word order: "chrF2", "chrF2++".
std::string chrf_name(const ChrfOptions& options);

class Chrf final : public CorpusMetric {
 public:
  explicit Chrf(const ChrfOptions& options = {}) : options_(options) {}
  std::string name() const override { return chrf_name(options_); }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;

 private:
  ChrfOptions options_;
};

}  // namespace regard
