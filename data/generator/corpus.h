// The four parts of the corpus and what keeps them apart.
//
// A combination is a pair of content words that stand in one relation: (adjective, noun),
// (subject noun, verb) or (verb, object noun). A fixed share of all combinations is held out:
// no training or development sentence contains one, every test sentence contains at least one,
// and every word form of a test sentence occurs several times in training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "phrase.h"

namespace regard::corpus {

struct CorpusOptions {
  std::uint64_t seed = 1;
  std::size_t train = 24000;
  std::size_t dev = 500;
  std::size_t test = 1000;
  std::size_t test_long = 500;
  std::size_t test_names = 0;
};

struct Corpus {
  std::vector<Sentence> train, dev, test, test_long;
  // With test_names above 0: train with other names and numbers (names.h), and new sentences of the
  // same kind, each with a name or a number that no training set has.
  std::vector<Sentence> train_names, test_names;
};

// 3 to 30 English words, save the long share of train (1.5 %) and test_long, which have 31 to 60.
Corpus generate(const CorpusOptions& options);

// Whether the combination belongs to the test sets: a hash of it falls into the share of 6 %.
bool held_out(std::string_view combination);
bool has_held_out(const Sentence& sentence);

// Writes DIR/{train,dev,test,test_long}.{en,fr} and DIR/{test,test_long}.align; where there are
// names, train_names and test_names too. Throws EnvironmentError.
void write(const Corpus& corpus, const std::string& directory);

// Counts of sentences, words and vocabulary, one line a set.
std::string statistics(const Corpus& corpus);

}  // namespace regard::corpus
