// Splits lines that are too long for a model, and joins the translations of the parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "translation/sentences.h"
#include "translation/translator.h"

namespace regard {

// Measures a training corpus of text, by at most 20,000 of its pairs. Fewer than 100 tell nothing.
LineLengths line_lengths(const Corpus& corpus, const std::string& source_language);

// Splits lines as a model needs it. A part holds one sentence; several only if a tenth of the
// training lines did. Words at the beginning of a line that are user symbols of the source
// vocabulary (tags such as <2de>) are at the beginning of each part. Thread-safe.
class LineSplitter {
 public:
  // `language` is that of the source, see SentenceSplitter.
  LineSplitter(TextCodec codec, std::vector<std::string> user_symbols, const std::string& language);

  // Returns the parts of a line, a whole line unchanged, as one part. With `max_words`, splits
  // lines of more words (separated by white space, without tags), and each part has at most so
  // many: a longer sentence is split after a comma, semicolon or colon if possible. With 0, splits
  // lines of several sentences; if training lines held several, only lines longer than 99 of 100 of
  // them.
  std::vector<std::string> split(const std::string& line, std::int64_t max_words) const;

 private:
  TextCodec codec_;
  std::vector<std::string> user_symbols_;
  SentenceSplitter sentences_;
};

// Adds the source tokens to the translation of a line: those of its parts, or of the whole line if
// it has none, and one </s>. Does nothing if there is no hypothesis, or if the search has returned
// the tokens, as it does with the weights.
void add_source_tokens(const TextCodec& codec, const std::string& line,
                       const std::vector<std::string>& parts, Translation& translation);

// Joins the best hypotheses of the parts of a line into one translation with one hypothesis. The
// caller sets its text. Concatenates tokens, probabilities and attention; the attention to other
// parts is 0. Keeps only the last </s> and adds the log P of each other </s> to the token before
// it. Skips blank parts; the result has no hypothesis if all are blank.
//
// There is a space between parts where space_between() has one. With sub-words, a part begins with
// one: without it, its first token is replaced by a word in oov_words. With characters, a space is
// added as a word in oov_words. `kind` is that of the tokens, on both sides.
Translation join_translations(std::span<const Translation> parts, const TextCodec& codec,
                              TokenizerKind kind);

}  // namespace regard
