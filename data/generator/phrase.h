// A piece of a sentence in both languages, which remembers which word renders which.
//
// Each token carries the numbers of what it means. An English and a French token that share a
// meaning are aligned, wherever word order, contraction and elision put them.
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
  bool article = false;  // le, la, les as articles contract with à and de; as pronouns they do not
};
using Tokens = std::vector<Token>;

struct Phrase {
  Tokens en, fr;

  Phrase& operator+=(const Phrase& next);
};

// Hands out the meanings of one sentence and collects its combinations of content words.
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
  // "adjective red car", "subject dog sleep", "object eat apple": lexemes, never forms.
  std::vector<std::string> combinations;

  bool is_question() const { return en.back() == "?"; }
};

// Appends the words of `text`, all with the one meaning.
void append(Tokens& tokens, std::string_view text, int meaning);
// A fixed expression as a phrase, with its own inner alignment.
Phrase translate(const Expression& expression, Draft& draft);
// Both languages with one meaning.
Phrase translate(std::string_view en, std::string_view fr, Draft& draft);

// Adds the final mark, contracts and elides, writes the capital and reads off the alignment.
Sentence finish(Phrase phrase, std::string_view mark, Draft& draft);

// Words joined by spaces, and the alignment in Pharaoh format: "0-0 1-2".
std::string line(const std::vector<std::string>& words);
std::string pharaoh(const Sentence& sentence);

}  // namespace regard::corpus
