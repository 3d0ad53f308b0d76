// A phrase in both languages with its word alignment.
//
// Each token has a list of meaning numbers. An English and a French token with a common meaning are
// aligned, whatever their order and after contraction and elision.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lexicon.h"

namespace regard::corpus {

struct Token {
  std::string text;
  std::vector<int> meanings;
  bool article = false;  // le, la, les as articles, which contract with à and de; pronouns do not
};
using Tokens = std::vector<Token>;

struct Phrase {
  Tokens en, fr;

  Phrase& operator+=(const Phrase& next);
};

// Allocates the meaning numbers of a sentence and collects its combinations of content words.
class Draft {
 public:
  int meaning() { return next_++; }
  void combine(std::string_view kind, std::string_view left, std::string_view right);
  const std::vector<std::string>& combinations() const { return combinations_; }

 private:
  int next_ = 0;
  std::vector<std::string> combinations_;
};

struct Sentence {
  std::vector<std::string> en, fr;
  std::vector<std::pair<int, int>> alignment;  // source, target; sorted
  // "adjective red car", "subject dog sleep", "object eat apple": lexemes, not word forms.
  std::vector<std::string> combinations;

  bool is_question() const { return en.back() == "?"; }
};

// Appends the words of `text`, all with the same meaning.
void append(Tokens& tokens, std::string_view text, int meaning);
// Converts a fixed expression to a phrase, with its word alignment.
Phrase translate(const Expression& expression, Draft& draft);
// Returns a phrase in which all words have the same meaning.
Phrase translate(std::string_view en, std::string_view fr, Draft& draft);

// Adds the punctuation mark, applies contraction and elision, capitalises the first word and
// computes the alignment.
Sentence finish(Phrase phrase, std::string_view mark, Draft& draft);

// Join words by spaces, and return the alignment in Pharaoh format: "0-0 1-2".
std::string line(const std::vector<std::string>& words);
std::string pharaoh(const Sentence& sentence);

// Returns the word with an upper-case first letter. Letters are those of English and French.
std::string capitalised(std::string word);

}  // namespace regard::corpus
