// The four sets of the corpus and their separation.
//
// A combination is a pair of content words in one relation: (adjective, noun), (subject noun, verb)
// or (verb, object noun). A fixed fraction of all combinations is held out: no sentence of the
// training and development sets contains one, every test sentence contains at least one, and every
// word form of a test sentence occurs several times in training.
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
  // Only if test_names > 0: the training set with other names and numbers (names.h), and new
  // sentences of the same kind, each with a name or a number that is in no training set.
  std::vector<Sentence> train_names, test_names;
};

// Generates the corpus. Sentences have 3 to 30 English words; 1.5 % of train and all of test_long
// have 31 to 60.
Corpus generate(const CorpusOptions& options);

// True if the combination is held out for the test sets: 6 % of all combinations, by their hash.
bool is_held_out(std::string_view combination);
bool contains_held_out(const Sentence& sentence);

// Writes DIR/{train,dev,test,test_long}.{en,fr} and DIR/{test,test_long}.align, and train_names and
// test_names if there are any. Throws EnvironmentError.
void write(const Corpus& corpus, const std::string& directory);

// Returns counts of sentences, words and word forms, one line per set.
std::string statistics(const Corpus& corpus);

}  // namespace regard::corpus
