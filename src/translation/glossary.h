// Glossaries: terms of the source language with the translations that they must have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/token_pattern.h"
#include "translation/phrase_constraints.h"

namespace regard {

struct GlossaryEntry {
  std::string source;
  std::vector<std::string> targets;  // forms, one of which a translation must have
  std::string place;                 // for messages: "terms.tsv:3"
};

// Reads a file whose lines have a source term, a tab, its target forms with | between them and,
// after another tab, a note. Skips blank lines. Throws InputError with file:line.
std::vector<GlossaryEntry> read_glossary(const std::string& path);

// The terms as they are found in sentences. A term stands between word boundaries, as a required
// phrase does, and white space of any length separates its words. Case counts, but a term that
// begins with a small letter is also found with a capital at the beginning of a sentence; its forms
// may then have one too. Where several terms begin, the longest counts, and terms do not overlap.
// Immutable.
class Glossary {
 public:
  // Entries of the same term have their forms in common. `user_symbols` are no terms at the
  // beginning of a line. Throws InputError with the place of an entry if a form has words that are
  // not in the vocabulary, or a term or form is blank.
  Glossary(const std::vector<GlossaryEntry>& entries, PhraseEncoder phrases,
           const std::vector<std::string>& user_symbols);

  struct Match {
    std::size_t term;  // index
    bool has_capital;  // which the term has not
  };
  // Returns the terms in a sentence, from left to right.
  std::vector<Match> find(std::string_view sentence) const;
  // Returns the phrase that a translation must have for a term.
  TokenPattern phrase(const Match& match) const;
  // Returns the number of tokens of the longest forms of these terms.
  std::int64_t longest(const std::vector<Match>& matches) const;

 private:
  struct Term {
    std::u32string source;
    std::vector<std::string> targets;
  };

  const Term* longest_at(std::u32string_view text, char32_t first) const;

  PhraseEncoder phrases_;
  std::vector<std::u32string> user_symbols_;
  std::vector<Term> terms_;  // sorted
};

}  // namespace regard
