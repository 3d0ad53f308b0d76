// A vocabulary: a list of tokens, each with its position as its id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/special_tokens.h"

namespace regard {

// Returns the name of a special id, such as "<pad>". Throws std::out_of_range for other ids.
std::string_view special_name(std::int32_t id);

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

// How often each token occurs in a text.
using TokenCounts = std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>>;

// Contains the special tokens, then the others. Text never maps to a special id except <unk>: a
// word spelt like a special token ("</s>") is unknown.
class Vocabulary {
 public:
  // Contains only the special tokens.
  Vocabulary();
  // Contains the tokens that occur at least `min_frequency` times, most frequent first, ties in
  // byte order. `limit` is the maximum size, special tokens included.
  Vocabulary(const TokenCounts& counts, std::int64_t min_frequency, std::int64_t limit);

  // Parses a file with one token per line. Special tokens may stand anywhere or be missing: they
  // always get their own ids, and the others follow in the order of the file. `fault` returns a
  // description of what is wrong with a token, or an empty string. Throws InputError with
  // `name`:line for an empty line, a duplicate token, invalid UTF-8, or a fault.
  static Vocabulary parse(std::string_view bytes, const std::string& name,
                          const std::function<std::string(std::string_view)>& fault);
  // Returns the same format, special tokens first.
  std::string serialized() const;

  std::int32_t id(std::string_view token) const;    // <unk> if there is no such token
  const std::string& token(std::int32_t id) const;  // throws std::out_of_range
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  // Adds a token at the end. Returns false if the vocabulary has it already.
  bool add(std::string_view token);

 private:
  std::vector<std::string> tokens_;
  // Without the special tokens.
  std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>> ids_;
};

}  // namespace regard
