// Constraints on the next token of a hypothesis. All searches apply them through this interface.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decoding/search.h"

namespace regard {

// The tokens of a hypothesis, y_1 … y_{t−1}, and the options of its sentence.
struct History {
  std::vector<std::int32_t> tokens;
  const SentenceOptions* sentence = nullptr;  // null only if no sentence has options
};

// The tokens that are not allowed next.
struct TokenMask {
  std::vector<std::int64_t> banned = {};  // may contain duplicates
  std::vector<std::int64_t> forced = {};  // the only allowed tokens, if any; override `banned`
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  // tokens from here on are banned
};

class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // Adds the tokens that this constraint does not allow after `history`.
  virtual void apply(const History& history, TokenMask& mask) const = 0;
};

// Bans </s> until the hypothesis has `min_length` tokens.
class MinimumLength : public TokenConstraint {
 public:
  explicit MinimumLength(std::int64_t min_length) : min_length_(min_length) {}
  void apply(const History& history, TokenMask& mask) const override;

 private:
  std::int64_t min_length_;
};

// Bans tokens that would repeat an n-gram (Paulus, Xiong, Socher 2017, with n = 3), except the next
// tokens of required phrases.
class NoRepeatNgram : public TokenConstraint {
 public:
  // n is options.no_repeat_ngram. The options must outlive this object.
  explicit NoRepeatNgram(const SearchRequest& options) : options_(&options) {}
  void apply(const History& history, TokenMask& mask) const override;

 private:
  const SearchRequest* options_;
};

// Forces the next token of SentenceOptions::prefix, or one that goes on with its text.
class ForcedPrefix : public TokenConstraint {
 public:
  void apply(const History& history, TokenMask& mask) const override;
};

// Bans tokens that would continue the last word of the prefix.
class WholeWordPrefix : public TokenConstraint {
 public:
  explicit WholeWordPrefix(const WordBoundaries& words);
  void apply(const History& history, TokenMask& mask) const override;

 private:
  WordBoundaries words_;
  std::vector<std::int32_t> begin_inside_;
};

// Bans </s> until all required phrases are met.
class LexicalConstraints : public TokenConstraint {
 public:
  // The options must outlive this object.
  explicit LexicalConstraints(const SearchRequest& options) : options_(&options) {}
  void apply(const History& history, TokenMask& mask) const override;

 private:
  const SearchRequest* options_;
};

// Bans tokens that would complete an excluded phrase of the sentence, also one whose last word
// might go on.
class BadWords : public TokenConstraint {
 public:
  explicit BadWords(WordBoundaries words) : words_(std::move(words)) {}
  void apply(const History& history, TokenMask& mask) const override;

 private:
  WordBoundaries words_;
};

// The kinds of constraints that at least one sentence of a search has.
struct ConstraintKinds {
  bool prefix = false;
  bool required_phrases = false;
  bool bad_words = false;

  void include(const SentenceOptions& sentence);
  bool operator==(const ConstraintKinds&) const = default;
};

// Returns the constraints that the options or the sentences require. `options` must outlive the
// result.
std::vector<std::unique_ptr<TokenConstraint>> token_constraints(const SearchRequest& options,
                                                                const ConstraintKinds& kinds);

}  // namespace regard
