// Constraints on a translation as text: its beginning, and phrases that it must or must not
// contain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_codec.h"
#include "decoding/search.h"
#include "text/tokenizer.h"

namespace regard {

// Locations of the constraints of a line, for messages: "words.txt:3", or a key.
struct ConstraintPlaces {
  std::string prefix;
  std::string required;
  std::string banned;
};

// The constraints of a line, by their names in requests: prefix, require and ban.
struct PhraseConstraints {
  std::string prefix = {};  // beginning of the translation
  std::vector<std::string> require = {};
  std::vector<std::string> ban = {};
};

// Turns phrases of the target language into constraints. White space separates words; in scripts
// without spaces, as of Chinese, a phrase may stand anywhere. With sub-words, a phrase is found in
// every segmentation, also within a token. Immutable.
class PhraseEncoder {
 public:
  PhraseEncoder(const TextCodec& codec, TokenizerKind kind);

  class Subwords;

  const WordBoundaries& words() const { return words_; }

  // Returns the constraints as tokens. Throws InputError, with the name, for words that are not in
  // the vocabulary and for constraints that contradict each other or do not fit into
  // `max_output_length`.
  SentenceOptions encode(const PhraseConstraints& phrases, std::int64_t max_output_length) const;

  // Sets the beginning of the translation, unless it is blank. Throws InputError with `place` if a
  // word of it is not in the vocabulary, so that `option` cannot use it.
  void set_prefix(const std::string& prefix, const std::string& place, std::string_view option,
                  SentenceOptions& sentence) const;
  // Adds a phrase that the translation must have, unless it is blank. Throws as set_prefix().
  void add_required(const std::string& phrase, const std::string& place, std::string_view option,
                    SentenceOptions& sentence) const;
  // Adds a phrase that the translation must not have. Returns false if a word of it is not in the
  // vocabulary: the model cannot produce it, unless it copies it from the source.
  bool add_banned(std::string_view phrase, SentenceOptions& sentence) const;

  // Throws InputError if the constraints contradict each other or do not fit into
  // `max_output_length`; `advice` says how to raise it.
  void check(const SentenceOptions& sentence, std::int64_t max_output_length,
             const ConstraintPlaces& places, std::string_view advice) const;

  // Returns the tokens of a phrase. Throws as set_prefix().
  std::vector<std::int32_t> tokens(const std::string& phrase, const std::string& place,
                                   std::string_view option) const;
  // Returns the tokens of a phrase; nothing if a word of it is not in the vocabulary.
  std::optional<std::vector<std::int32_t>> known_tokens(std::string_view phrase) const;
  // Returns the pattern of a phrase of these tokens.
  TokenPattern pattern(const std::vector<std::int32_t>& ids) const;

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;  // of the target
  bool has_words_;                              // false: the output is positions
  std::shared_ptr<const Subwords> subwords_;    // null for words and characters
  WordBoundaries words_;
};

}  // namespace regard
