// Rules on the tokens that may come next in a hypothesis, each a short piece of its own. Searches
// know them by this alone, and all searches heed the same ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decoding/search.h"

namespace regard {

// What a rule sees of a hypothesis: y_1 … y_{t−1}.
using History = std::span<const std::int32_t>;

class TokenRule {
 public:
  virtual ~TokenRule() = default;
  // Adds the tokens that may not come next; a token may be named twice.
  virtual void forbid(History history, std::vector<std::int64_t>& forbidden) const = 0;
};

// No </s> before `least` tokens.
class MinimumLength : public TokenRule {
 public:
  MinimumLength(std::int64_t least, std::int64_t end_token) : least_(least), end_(end_token) {}
  void forbid(History history, std::vector<std::int64_t>& forbidden) const override;

 private:
  std::int64_t least_;
  std::int64_t end_;
};

// No n tokens in a row that are there already (Paulus, Xiong, Socher 2017, with n = 3).
class NoRepeatedNgram : public TokenRule {
 public:
  explicit NoRepeatedNgram(std::int64_t n) : n_(n) {}
  void forbid(History history, std::vector<std::int64_t>& forbidden) const override;

 private:
  std::int64_t n_;
};

// Those that the options ask for.
std::vector<std::unique_ptr<TokenRule>> token_rules(const SearchOptions& options);

}  // namespace regard
