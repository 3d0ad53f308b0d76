// Phrases as patterns over tokens. A text can be segmented in several ways, and a token can have
// the end of a phrase and the beginning of the next word: a pattern accepts all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace regard {

// The tokens that stand inside words, by id. Empty if no token continues the word before it. A
// copied character that the vocabulary does not have (OutputKind::copy) counts as a letter inside a
// word.
struct WordBoundaries {
  std::vector<bool> begins_inside;  // begins with a letter or number, without a space before it
  std::vector<bool> ends_inside;    // ends with a letter or number; empty: all tokens

  // True if `token` continues the last word of `before`.
  bool continues(std::int32_t before, std::int32_t token) const;
  bool operator==(const WordBoundaries&) const = default;
};

// A finite automaton over tokens. State 0 is the start; the tokens of an occurrence lead from it to
// the last state. An occurrence stands between word boundaries: its first token does not continue a
// word, unless that token has a boundary of its own before the phrase, and the next token does not
// continue its last word. Immutable.
class TokenPattern {
 public:
  struct Edge {
    std::int32_t token = 0;
    std::size_t to = 0;
    bool begins = false;  // from the start: the phrase begins at the beginning of the token
    bool closes = false;  // to the last state: the word of the phrase ends within the token
  };
  struct State {
    std::vector<Edge> edges;             // by token
    std::vector<std::int32_t> proposed;  // the tokens that a search tries to go on
    std::int64_t remaining = 0;          // number of tokens to the last state, by proposed tokens
  };

  // Accepts these tokens only. Throws std::invalid_argument if there are none.
  explicit TokenPattern(const std::vector<std::int32_t>& tokens);
  TokenPattern(std::initializer_list<std::int32_t> tokens)
      : TokenPattern(std::vector<std::int32_t>(tokens)) {}
  // `states` lacks the last state, which has no edges. `tokens` is the phrase as a text of its own.
  TokenPattern(std::vector<State> states, std::vector<std::int32_t> tokens);

  // Accepts what one of these patterns accepts: alternatives. Throws std::invalid_argument if there
  // are none.
  static TokenPattern any_of(std::vector<TokenPattern> patterns);

  // The phrase as a text of its own, of alternatives the first one.
  const std::vector<std::int32_t>& tokens() const { return spellings_.front(); }
  const std::vector<State>& states() const { return states_; }
  std::size_t last() const { return states_.size(); }
  std::int64_t length() const { return states_[0].remaining; }  // tokens of the longest way
  bool operator==(const TokenPattern& other) const { return spellings_ == other.spellings_; }

  // The occurrences in tokens, without overlap, from left to right.
  struct Match {
    std::int64_t count = 0;
    // The last occurrence ends the tokens, and is void if the next token continues its word.
    bool at_end = false;
    // The state of the occurrence that has begun after the last one; the nearest to the last state.
    std::size_t begun = 0;
  };
  Match match(std::span<const std::int32_t> tokens, const WordBoundaries& words) const;
  // True if an occurrence ends within these tokens or with them.
  bool is_in(std::span<const std::int32_t> tokens, const WordBoundaries& words) const;
  // Returns the tokens that would complete an occurrence after `tokens`, also one whose last word
  // may go on. May contain duplicates.
  std::vector<std::int32_t> completing(std::span<const std::int32_t> tokens,
                                       const WordBoundaries& words) const;
  // The way of tokens from the start. It is the only one if the edges of a state spell one text.
  struct Path {
    std::vector<std::int32_t> next;  // the tokens that go on; none at or behind the last state
    bool ends = false;               // the last token leads to the last state, and closes no word
  };
  // Throws std::invalid_argument if the tokens leave the pattern.
  Path path(std::span<const std::int32_t> tokens) const;
  // Returns the proposed tokens of the start that are at a word boundary after `tokens`.
  std::vector<std::int32_t> beginning(std::span<const std::int32_t> tokens,
                                      const WordBoundaries& words) const;

 private:
  std::vector<State> states_;
  std::vector<std::vector<std::int32_t>> spellings_;  // one, or those of the alternatives
};

}  // namespace regard
