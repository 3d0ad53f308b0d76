// BLEU (Papineni et al. 2002). Scores equal those of sacreBLEU 2 (Post 2018).
//
//   BLEU = BP · exp(1/4 Σ_n log p_n)       BP = min(1, exp(1 − r/c))
//
// p_n is the fraction of the system's n-grams that occur in a reference, clipped to the largest
// count in any one reference; c is the system's length in tokens; r is the sum of the reference
// lengths, for each sentence the one closest to the hypothesis (the shorter of two). Counts are
// summed over the corpus first. Scores and precisions range from 0 to 100.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/metric_settings.h"
#include "metrics/corpus_metric.h"
#include "metrics/metric_tokenizers.h"
#include "text/tokenizer.h"

namespace regard {

constexpr std::size_t bleu_order = 4;

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::mteval_13a;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value = {};  // default: 0.1 for floor, 1 for add_k
  bool lowercase = false;
  bool effective_order = false;  // ignore orders that the system is too short for
  // For BleuTokenizer::sentencepiece: the model, and its name in a signature.
  std::shared_ptr<const Tokenizer> pieces = {};
  std::string pieces_name = {};
};

// Loads a SentencePiece model for BleuTokenizer::sentencepiece. Throws InputError with the file.
void load_pieces(const std::string& file, BleuOptions& options);

// Tokenizes and optionally lower-cases a line. Returns it with white space around each token.
std::u32string tokenize_for_bleu(const std::string& line, const BleuOptions& options);

// Returns the tokens of a line as ids, whose n-grams are counted.
std::u32string bleu_tokens(const std::string& line, const BleuOptions& options, WordIds& word_ids);

// The counts of a sentence. The counts of a corpus are their sums. The matches and totals of order
// n are at bleu_matches + n − 1 and bleu_totals + n − 1.
enum BleuCount : std::size_t {
  bleu_system_length,     // c, in tokens
  bleu_reference_length,  // r, in tokens
  bleu_matches,           // clipped
  bleu_totals = bleu_matches + bleu_order,
  bleu_count_size = bleu_totals + bleu_order
};

struct BleuScore {
  double score = 0;
  std::array<double, bleu_order> precisions{};
  double brevity_penalty = 0;
};

// Returns the score of a corpus with these counts; 0 if there are no matches.
BleuScore compute_bleu(std::span<const double> counts, const BleuOptions& options = {});

class Bleu final : public CorpusMetric {
 public:
  explicit Bleu(const BleuOptions& options = {}) : options_(options) {}
  std::string name() const override { return "BLEU"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  std::string details(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;

 private:
  BleuOptions options_;
};

}  // namespace regard
