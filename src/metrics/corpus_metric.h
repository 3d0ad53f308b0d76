// The interface of metrics of translations. A metric is computed in two steps: count() returns a
// fixed number of counts for each sentence, and score() maps their sums over a set of sentences to
// the score of that set. Resampling, tables and JSON use only this interface.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace regard {

// references[r][i]: the r-th reference of sentence i.
using References = std::vector<std::vector<std::string>>;

// Throws InputError if there is no reference, or if the number of lines of one is not `hypotheses`.
void check_references(std::size_t hypotheses, const References& references);

struct SentenceCounts {
  std::size_t width = 0;       // counts per sentence
  std::vector<double> values;  // [sentences, width]

  std::size_t sentences() const { return values.size() / width; }
  std::span<const double> sentence(std::size_t i) const {
    return std::span(values).subspan(i * width, width);
  }
  std::vector<double> sum() const;
};

class CorpusMetric {
 public:
  virtual ~CorpusMetric() = default;

  virtual std::string name() const = 0;  // "BLEU", "chrF2++", "TER"
  // Returns sacreBLEU's signature: "nrefs:…" first, "version:…" last.
  virtual std::string signature(std::size_t references) const = 0;
  // Returns the counts of each sentence. Throws InputError if the numbers of lines differ.
  virtual SentenceCounts count(const std::vector<std::string>& hypotheses,
                               const References& references) const = 0;
  virtual double score(std::span<const double> sums) const = 0;
  // Returns the text that sacreBLEU prints after the score, or an empty string.
  virtual std::string details(std::span<const double> /*sums*/) const { return {}; }
  // Returns the score and its components.
  virtual Json to_json(std::span<const double> sums) const = 0;
};

}  // namespace regard
