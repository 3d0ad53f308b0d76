// Random changes of source tokens, for pre-training on text without translations
// (docs/language_models.md): the model reconstructs a text, or its masked tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "config/options.h"
#include "data/batch.h"

namespace regard {

class Corpus;

// Returns the tokens after, in this order:
//
//   shuffle  token i moves to the place of i + u in the order of these numbers, with u uniform in
//            [0, shuffle + 1), so that no token moves more than `shuffle` positions (Lample et al.
//            2018)
//   drop     each token is left out with this probability
//   mask     spans of tokens are replaced by one <unk> each, the text infilling of BART (Lewis et
//            al. 2020). Span lengths have a Poisson distribution. A span of length 0 inserts <unk>,
//            unless the sentence would become longer than it was. A span starts at each token with
//            the probability q = 1 / (1 + λ (1 − r) / r), which masks the fraction r = mask of a
//            long text, on average (λ = span_length). With λ = 0, <unk> replaces each token with
//            the probability r.
std::vector<std::int32_t> add_noise(std::span<const std::int32_t> tokens, const NoiseOptions& o,
                                    Random& random);

struct MaskedTokens {
  std::vector<std::int32_t> tokens;     // with changes
  std::vector<std::int32_t> positions;  // the selected positions, ascending
  std::vector<std::int32_t> originals;  // the tokens before masking at these positions
};

// Selects each position with the probability `fraction`, or one position if none was selected. Of
// the selected tokens, 80 % become <unk>, 10 % a random token of the vocabulary, and 10 % stay
// (BERT, Devlin et al. 2019).
MaskedTokens mask_tokens(std::span<const std::int32_t> tokens, double fraction,
                         std::int64_t vocabulary, Random& random);

// The noise of a training. Immutable.
class SourceNoise {
 public:
  SourceNoise() = default;  // changes nothing
  explicit SourceNoise(const Options& options);

  bool is_active() const { return regard::is_active(options_) || is_masked_; }
  // Changes a pair of the corpus that apply() concerns: every pair of a masked language model, and
  // otherwise the pairs whose source and target are the same file. The tag of a source stays.
  void apply(Example& example, const Corpus& corpus, Random& random) const;
  // Returns the batch of examples after apply().
  Batch batch(std::span<const Example> examples) const;
  // Returns a batch of pairs with noise. The noise of a pair depends only on `seed` and its index.
  Batch batch(const Corpus& corpus, std::span<const std::int64_t> pairs, std::uint64_t seed) const;

 private:
  NoiseOptions options_;
  bool is_masked_ = false;  // the model is a masked language model
};

}  // namespace regard
