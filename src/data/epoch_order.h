// The random order of the pairs in an epoch of a prepared corpus, computed pair by pair: no list of
// the pairs is in memory.
//
// A corpus with n pairs and the weight w supplies a stream: passes over its pairs, one after the
// other. Epoch e uses the pairs ⌊e w n⌋ to ⌊(e + 1) w n⌋ − 1 of the stream, so that each pair is
// used once in 1 / w epochs, or w times in each. Where w is no whole number, each pass has its own
// random order. The pairs of all corpora together are in a random order of the epoch. All orders
// are permutations keyed by the seed (base/permutation.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/permutation.h"
#include "base/random.h"
#include "data/corpus.h"

namespace regard {

// Immutable, so threads can share it.
class EpochOrder {
 public:
  // `random` is the stream of the epoch, and `seed` that of the training.
  EpochOrder(const std::vector<CorpusPart>& parts, std::uint64_t seed, std::int64_t epoch,
             Random random);

  // Returns the number of pairs in the epoch.
  std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }
  // Returns the pair at position i < size(), as an index in the corpus.
  std::int64_t operator()(std::int64_t i) const;

 private:
  struct Part {
    std::int64_t end;    // number of pairs in the epoch up to the end of this corpus
    std::int64_t first;  // its first pair
    std::int64_t pairs;
    std::int64_t begin;  // first pair of the epoch in the stream
    std::int64_t first_pass;
    std::vector<Permutation> passes;  // of the epoch, from first_pass; none if w is whole
  };

  std::vector<Part> parts_;
  Permutation order_;
};

}  // namespace regard
