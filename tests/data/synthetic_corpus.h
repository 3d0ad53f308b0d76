// Synthetic corpora for the tests of batches.
#pragma once

#include <string>

#include "base/random.h"
#include "data/corpus.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/small_corpus.h"
#include "tests/text/lines.h"

namespace regard {

inline TextCodec letter_words(std::string_view letters = "a b c d e f") {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  const std::shared_ptr<const Tokenizer> both =
      train_tokenizer(options, lines_of({std::string(letters)}));
  return {both, both};
}

inline std::string words(std::uint64_t count) {
  std::string line = "a";
  for (std::uint64_t i = 1; i < count; ++i) line += " b";
  return line + "\n";
}

// Returns `count` pairs of 1 to 20 words per side.
inline Corpus random_corpus(const ScratchFolder& folder, int count, double weight = 1) {
  Random random(11);
  std::string source;
  std::string target;
  for (int i = 0; i < count; ++i) {
    source += words(1 + random.below(20));
    target += words(1 + random.below(20));
  }
  DataOptions options;
  options.max_ratio = 0;
  options.tokenizer.kind = TokenizerKind::word;
  options.train = {{folder.write("src", source), folder.write("trg", target), weight}};
  return training_corpus(options, letter_words());
}

}  // namespace regard
