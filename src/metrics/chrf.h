// chrF (Popović 2015) and chrF++ (Popović 2017), with the figures that sacreBLEU 2 gives.
//
//   chrF_β = (1 + β²) P R / (β² P + R)
//
// P and R are the means of n-gram precision and recall over the character orders, and for chrF++
// over the word orders too; an order that the system or the reference is too short for does not
// count (effective order). White space is no character. Of several references of a sentence the one
// with the best sentence score is counted, and with equal scores the first. Counts are summed over
// the corpus first. Scores run from 0 to 100.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/corpus_metric.h"
#include "metrics/references.h"

namespace regard {

struct ChrfOptions {
  std::size_t char_order = 6;
  std::size_t word_order = 0;  // 2: chrF++
  double beta = 2;             // how many times as much recall weighs
  bool lowercase = false;
};

// The n-grams of one order.
struct ChrfCounts {
  std::int64_t system = 0;  // zero where the reference has none
  std::int64_t reference = 0;
  std::int64_t matches = 0;
};

// One entry an order: characters first, then words. Sums over sentences are those of a corpus.
using ChrfStatistics = std::vector<ChrfCounts>;

// Of each sentence. Throws InputError where the numbers of lines differ.
std::vector<ChrfStatistics> chrf_statistics(const std::vector<std::string>& hypotheses,
                                            const References& references,
                                            const ChrfOptions& options = {});
// Adds a sentence to a sum; an empty sum takes its shape.
void add_to(ChrfStatistics& sum, const ChrfStatistics& sentence);
double chrf_of(const ChrfStatistics& statistics, const ChrfOptions& options = {});

// A corpus without a sentence scores 0. Throws as chrf_statistics does.
double corpus_chrf(const std::vector<std::string>& hypotheses, const References& references,
                   const ChrfOptions& options = {});
double sentence_chrf(const std::string& hypothesis, const std::vector<std::string>& references,
                     const ChrfOptions& options = {});

// "chrF2", "chrF2++"
std::string chrf_name(const ChrfOptions& options);
// sacreBLEU's signature, "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:regard-0.1.0". The
// version names regard, not a sacreBLEU that did not compute the figure; drop it to compare.
std::string chrf_signature(const ChrfOptions& options, std::size_t references);

class Chrf final : public CorpusMetric {
 public:
  explicit Chrf(const ChrfOptions& options = {}) : options_(options) {}
  std::string name() const override { return chrf_name(options_); }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  Json figures(std::span<const double> sums) const override;

 private:
  ChrfOptions options_;
};

}  // namespace regard
