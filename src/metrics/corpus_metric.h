// What resampling, tables and JSON know of any metric of translations: it counts some numbers of
// each sentence, and the sums of these over a set of sentences give that set's score.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "metrics/references.h"

namespace regard {

struct SentenceCounts {
  std::size_t width = 0;       // numbers a sentence
  std::vector<double> values;  // [sentences, width]

  std::size_t sentences() const { return values.size() / width; }
  std::span<const double> of(std::size_t sentence) const {
    return std::span(values).subspan(sentence * width, width);
  }
  std::vector<double> sum() const;
};

class CorpusMetric {
 public:
  virtual ~CorpusMetric() = default;

  virtual std::string name() const = 0;  // "BLEU", "chrF2++", "TER"
  // sacreBLEU's: "nrefs:…" first, "version:…" last.
  virtual std::string signature(std::size_t references) const = 0;
  // Of each sentence. Throws InputError where the numbers of lines differ.
  virtual SentenceCounts count(const std::vector<std::string>& hypotheses,
                               const References& references) const = 0;
  virtual double score(std::span<const double> sums) const = 0;
  // What sacreBLEU says behind the score, if anything.
  virtual std::string remark(std::span<const double> /*sums*/) const { return {}; }
  // The score and all that it is made of.
  virtual Json figures(std::span<const double> sums) const = 0;
};

}  // namespace regard
