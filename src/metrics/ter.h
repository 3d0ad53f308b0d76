// TER, the translation edit rate (Snover et al. 2006), with the figures that sacreBLEU 2 gives.
//
//   TER = 100 · Σ edits / Σ words of the reference
//
// Edits are insertions, deletions and substitutions of a word and shifts of up to ten words to
// where they stand in the reference. Shifts are found greedily, as in Tercom: the one after which
// the edit distance is least, again and again while it falls. Of several references the one that
// takes the fewest edits counts, divided by their mean length. 0 is best; there is no upper end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/corpus_metric.h"
#include "metrics/references.h"
#include "metrics/ter_tokenizer.h"

namespace regard {

// All that TER needs to know of a sentence. Sums over sentences are those of a corpus.
struct TerStatistics {
  std::int64_t edits = 0;
  double reference_length = 0;

  TerStatistics& operator+=(const TerStatistics& other);
};

// Of each sentence. Throws InputError where the numbers of lines differ.
std::vector<TerStatistics> ter_statistics(const std::vector<std::string>& hypotheses,
                                          const References& references,
                                          const TerOptions& options = {});
// Against references without a word: 100 where there are edits, 0 where there are none.
double ter_of(const TerStatistics& statistics);

// A corpus without a sentence scores 0. Throws as ter_statistics does.
double corpus_ter(const std::vector<std::string>& hypotheses, const References& references,
                  const TerOptions& options = {});
double sentence_ter(const std::string& hypothesis, const std::vector<std::string>& references,
                    const TerOptions& options = {});

// sacreBLEU's signature,
// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:regard-0.1.0". The version names
// regard, not a sacreBLEU that did not compute the figure; drop it to compare.
std::string ter_signature(const TerOptions& options, std::size_t references);

class Ter final : public CorpusMetric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}
  std::string name() const override { return "TER"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  Json figures(std::span<const double> sums) const override;

 private:
  TerOptions options_;
};

}  // namespace regard
