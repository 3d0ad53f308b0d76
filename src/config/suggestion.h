// A configuration to begin with, for a corpus of which little is known: sizes by how much there is
// to learn from, lengths and vocabulary by the text. Rules of thumb, each said in a comment beside
// its key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regard {

struct SideFacts {
  std::string path;
  std::string language;  // by the file's name; may be empty
  double mean_words = 0;
  std::int64_t long_length = 0;  // in words, or quarters of characters: 99 % of lines have no more
  std::int64_t distinct_words = 0;
  std::int64_t distinct_characters = 0;
  bool tokenised = false;  // punctuation stands apart
  bool split = false;      // into sub-words already
};

struct CorpusFacts {
  std::int64_t pairs = 0;
  SideFacts src;
  SideFacts trg;
  // Element n counts the pairs whose longer side has n words; the last one, so many or more. In
  // text without blanks four characters are a word.
  std::vector<std::int64_t> pairs_by_length = {};
};

struct Suggestion {
  std::string name;
  CorpusFacts train;
  std::string dev_src;  // empty: no validation pair
  std::string dev_trg;
  std::string documents = "docs";  // the folder of attention.md
};

// YAML with comments, which parse_options() and check_training_options() take.
std::string suggested_config(const Suggestion& suggestion);

// What is seen of one side, in a line: "24000 lines, 8.5 words each, 2210 different, tokenised".
std::string facts_text(const SideFacts& side, std::int64_t lines);

}  // namespace regard
