// BLEU (Papineni et al. 2002), with the figures that sacreBLEU 2 (Post 2018) gives.
//
//   BLEU = BP · exp(1/4 Σ_n log p_n)       BP = min(1, exp(1 − r/c))
//
// p_n is the share of the system's n-grams found in a reference, clipped to the largest count in
// any one reference; c is the system's length in tokens, r the sum of the reference lengths, each
// time the closest to the hypothesis (of two as close, the shorter). Counts are summed over the
// corpus first. Scores and precisions run from 0 to 100.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bleu_tokenizer.h"
#include "metrics/corpus_metric.h"
#include "metrics/references.h"

namespace regard {

constexpr std::size_t bleu_order = 4;

// What becomes of a precision without a match (Chen and Cherry 2014): halved again for each such
// order; set to value / total; value added to count and total of orders above 1; left at zero.
enum class BleuSmoothing { exp, floor, add_k, none };

// The name in a signature: exp, floor, add-k, none.
std::string_view name_of(BleuSmoothing smoothing);
// Its inverse. Throws ConfigError, listing the names, for any other.
BleuSmoothing bleu_smoothing_named(std::string_view name);

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::mteval_13a;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value;  // floor: 0.1 where not given; add_k: 1
  bool lowercase = false;
  bool effective_order = false;  // leave out the orders for which the system is too short
};

// The line with white space around each of its tokens.
std::u32string tokenize_for_bleu(const std::string& line, const BleuOptions& options);

// All that BLEU needs to know of a sentence. Sums over sentences are those of a corpus.
struct BleuStatistics {
  std::int64_t system_length = 0;
  std::int64_t reference_length = 0;
  std::array<std::int64_t, bleu_order> matches{};
  std::array<std::int64_t, bleu_order> totals{};

  BleuStatistics& operator+=(const BleuStatistics& other);
};

struct BleuScore {
  double score = 0;
  std::array<double, bleu_order> precisions{};
  double brevity_penalty = 0;
  BleuStatistics statistics;  // before smoothing
};

// Of each sentence. Throws InputError where the numbers of lines differ.
std::vector<BleuStatistics> bleu_statistics(const std::vector<std::string>& hypotheses,
                                            const References& references,
                                            const BleuOptions& options = {});
BleuScore bleu_of(const BleuStatistics& statistics, const BleuOptions& options = {});

// A corpus without a sentence or without a match scores 0. Throws as bleu_statistics does.
BleuScore corpus_bleu(const std::vector<std::string>& hypotheses, const References& references,
                      const BleuOptions& options = {});
// With effective order, whatever the options say, as sacreBLEU's sentence_bleu.
BleuScore sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                        BleuOptions options = {});

// sacreBLEU's signature, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:regard-0.1.0". The
// version names regard, not a sacreBLEU that did not compute the figure; drop it to compare.
std::string bleu_signature(const BleuOptions& options, std::size_t references);
// "65.1/38.9/26.0/17.8 (BP = 0.987 ratio = 0.987 hyp_len = 11900 ref_len = 12056)"
std::string bleu_remark(const BleuScore& score);

class Bleu final : public CorpusMetric {
 public:
  explicit Bleu(const BleuOptions& options = {}) : options_(options) {}
  std::string name() const override { return "BLEU"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  std::string remark(std::span<const double> sums) const override;
  Json figures(std::span<const double> sums) const override;

 private:
  BleuOptions options_;
};

}  // namespace regard
