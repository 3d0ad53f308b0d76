// The n-best list of `regard rerank` and the features of its entries:
//
//   score   the score of the list
//   length  words of the translation, separated by white space
//   NAME    a number of the third field, such as logprob, or one that `regard score --n-best` added
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/n_best.h"

namespace regard {

struct RerankedList {
  std::string path;                 // "-" for standard input
  std::vector<NBestEntry> entries;  // sentence by sentence; entry i is line i + 1
  std::vector<std::size_t> first;   // [sentences + 1] index of the first entry of each sentence

  std::size_t sentences() const { return first.size() - 1; }
};

// Reads a list, which must not be empty. Throws the errors of read_n_best(), and InputError with
// file:line unless the sentences are 0, 1, 2, … in this order.
RerankedList read_list(const std::string& path);

// Returns the names of the features of which each entry has exactly one finite number.
std::vector<std::string> common_features(const RerankedList& list);

// The option or the file that names a feature, for messages.
struct FeatureOrigin {
  std::string name;  // "--weight", or the path
  bool is_option = false;
};

// Returns the value of a feature in each entry. If no entry has the feature, throws ConfigError for
// an option and InputError for a file. Throws InputError with file:line if an entry does not have
// exactly one finite number of it.
std::vector<double> feature_values(const RerankedList& list, const std::string& feature,
                                   const FeatureOrigin& origin);

}  // namespace regard
