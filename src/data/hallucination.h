// Data hallucination (Anastasopoulos and Neubig 2019): substrings that both sides of a training
// pair have in common, such as the stem of a word and of its inflected form, are replaced by random
// tokens, the same on both sides. A model of little text learns to copy them, and learns the rest
// apart from them.
//
// The paper adds such pairs to the training text, with tokens drawn uniformly. Here, each epoch
// replaces substrings anew, and tokens are drawn as often as they occur in common substrings.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "config/data_options.h"
#include "data/batch.h"
#include "text/common_substrings.h"

namespace regard {

class Corpus;

// Replaces common substrings of training pairs. Immutable.
class Hallucination {
 public:
  Hallucination() = default;  // changes nothing
  // Collects tokens of common substrings, from pairs at equal distances or all of a small corpus:
  // at most 8,000 pairs, until there are 100,000 tokens. Throws ConfigError if none is found.
  Hallucination(const DataOptions& options, const Corpus& corpus);

  bool is_active() const { return options_.rate > 0; }
  // With probability data.hallucination.rate, replaces a common substring at all of its positions;
  // a part of it that occurs elsewhere stays. With sub-words, a token that begins a word replaces
  // one that does; with parts of characters, a later part replaces a later part. Changes neither
  // blanks and user symbols, nor pairs of a corpus whose two sides are the same file. Takes time in
  // proportion to the product of the lengths.
  void apply(Example& example, const Corpus& corpus, Random& random) const;

 private:
  enum class TokenPlace { other, word_start, later_part };
  struct Token {
    std::int32_t source;  // its id in each vocabulary
    std::int32_t target;
  };
  std::vector<CommonSubstring> substrings(const Example& example, const Corpus& corpus) const;

  HallucinationOptions options_;
  // The target id of each source id; −1 if the token is not in the target vocabulary, or stays.
  std::vector<std::int32_t> target_ids_;
  std::vector<TokenPlace> places_;            // of each source id
  std::array<std::vector<Token>, 3> tokens_;  // of common substrings, by TokenPlace
};

}  // namespace regard
