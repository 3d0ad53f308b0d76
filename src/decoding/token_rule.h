// Rules on the tokens that may come next in a hypothesis, each a short piece of its own. Searches
// know them by this alone, and all searches heed the same ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decoding/search.h"

namespace regard {

// What a rule sees of a hypothesis: y_1 … y_{t−1}, and what holds of its sentence.
struct History {
  std::vector<std::int32_t> tokens;
  const SentenceOptions* sentence = nullptr;
};

// What may come next.
struct Limits {
  std::vector<std::int64_t> forbidden;  // a token may be named twice
  std::optional<std::int64_t> only;     // this and nothing else, whatever is forbidden
};

class TokenRule {
 public:
  virtual ~TokenRule() = default;
  virtual void limit(const History& history, Limits& limits) const = 0;
};

// No </s> before `least` tokens.
class MinimumLength : public TokenRule {
 public:
  explicit MinimumLength(std::int64_t least) : least_(least) {}
  void limit(const History& history, Limits& limits) const override;

 private:
  std::int64_t least_;
};

// No n tokens in a row that are there already (Paulus, Xiong, Socher 2017, with n = 3), but for
// what a demanded phrase asks for.
class NoRepeatedNgram : public TokenRule {
 public:
  // options.no_repeat_ngram is n; they must outlive this.
  explicit NoRepeatedNgram(const SearchOptions& options) : options_(&options) {}
  void limit(const History& history, Limits& limits) const override;

 private:
  const SearchOptions* options_;
};

// Translations begin with the sentence's prefix.
class ForcedPrefix : public TokenRule {
 public:
  void limit(const History& history, Limits& limits) const override;
};

// A prefix ends where a word ends: no piece that goes on with the word follows.
class WholeWordPrefix : public TokenRule {
 public:
  // As in SearchOptions.
  explicit WholeWordPrefix(const std::vector<bool>& inside_words);
  void limit(const History& history, Limits& limits) const override;

 private:
  std::vector<std::int64_t> inside_words_;
};

// No </s> before the translation has all that is demanded of it.
class DemandedPhrases : public TokenRule {
 public:
  // The options must outlive this.
  explicit DemandedPhrases(const SearchOptions& options) : options_(&options) {}
  void limit(const History& history, Limits& limits) const override;

 private:
  const SearchOptions* options_;
};

// None of the sentence's banned phrases, in these tokens.
class BannedPhrases : public TokenRule {
 public:
  void limit(const History& history, Limits& limits) const override;
};

// Those that the options, which must outlive them, or one of the sentences ask for.
std::vector<std::unique_ptr<TokenRule>> token_rules(const SearchOptions& options,
                                                    const std::vector<SentenceOptions>& sentences);

}  // namespace regard
