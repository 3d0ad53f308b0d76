// Data hallucination (Anastasopoulos and Neubig 2019): the stretches that both sides of a training
// pair have in common, such as the stem of a word and of its inflected form, are replaced by random
// tokens, the same on both sides. A model of little text learns to copy them, and learns the rest
// apart from them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "config/data_options.h"
#include "data/batch.h"
#include "text/common_stretches.h"

namespace regard {

// Replaces common stretches of training pairs. Immutable.
class Hallucination {
 public:
  Hallucination() = default;  // changes nothing
  // Reads at most 4,000 pairs, at equal distances. Throws ConfigError if none of them has a common
  // stretch.
  Hallucination(const HallucinationOptions& options, const Corpus& corpus);

  bool is_active() const { return options_.rate > 0; }
  // Replaces each common stretch of a pair with the probability options.rate, at all of its places.
  // Its new tokens are drawn from those of the common stretches of the corpus, as often as they
  // occur there. With sub-words, a token that begins a word replaces one that does; with parts of
  // characters, a later part a later part. Tags stay, and the pairs of a corpus whose source and
  // target are the same file.
  void apply(Example& example, const Corpus& corpus, Random& random) const;

 private:
  struct Token {
    std::int32_t source;  // its id in each vocabulary
    std::int32_t target;
  };
  std::vector<CommonStretch> stretches(const Example& example, const Corpus& corpus) const;

  HallucinationOptions options_;
  std::vector<std::int32_t> target_ids_;      // of each source id; −1 if there is none
  std::vector<std::size_t> places_;           // of each source id: its place in a word
  std::array<std::vector<Token>, 3> tokens_;  // of common stretches, by place
};

}  // namespace regard
