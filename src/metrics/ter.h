// TER, the translation edit rate (Snover et al. 2006). Scores equal those of sacreBLEU 2.
//
//   TER = 100 · Σ edits / Σ words of the reference
//
// Edits are insertions, deletions and substitutions of a word, and shifts of up to ten words to
// their position in the reference. Shifts are found greedily, as in Tercom: the shift with the
// smallest edit distance after it is applied as long as the distance decreases. With several
// references, the smallest number of edits is divided by the mean length. 0 is best; there is no
// upper bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/corpus_metric.h"
#include "metrics/metric_tokenizers.h"

namespace regard {

// The counts of a sentence. The counts of a corpus are their sums.
struct TerStatistics {
  std::int64_t edits = 0;
  double reference_length = 0;

  TerStatistics& operator+=(const TerStatistics& other);
};

// Returns the counts of each sentence. Throws InputError if the numbers of lines differ.
std::vector<TerStatistics> ter_statistics(const std::vector<std::string>& hypotheses,
                                          const References& references,
                                          const TerOptions& options = {});
// If the references have no words, returns 100 if there are edits and 0 otherwise.
double compute_ter(const TerStatistics& statistics);

// A corpus without sentences scores 0. Throws as ter_statistics() does.
double corpus_ter(const std::vector<std::string>& hypotheses, const References& references,
                  const TerOptions& options = {});
double sentence_ter(const std::string& hypothesis, const std::vector<std::string>& references,
                    const TerOptions& options = {});

// Returns sacreBLEU's signature with the version of regard:
// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:regard-0.1.0".
std::string ter_signature(const TerOptions& options, std::size_t references);

class Ter final : public CorpusMetric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}
  std::string name() const override { return "TER"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;

 private:
  TerOptions options_;
};

}  // namespace regard
