// The list of tokens whose place is their id.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/special_tokens.h"

namespace regard {

// The name of a special id, as in "<pad>".
std::string_view special_name(std::int32_t id);

// The special tokens, then the others. Text never yields a special id but <unk>: a word that is
// spelt like one ("</s>") is unknown.
class Vocabulary {
 public:
  using Counts = std::unordered_map<std::string, std::int64_t>;

  // The special tokens only.
  Vocabulary();
  // The tokens seen at least `min_frequency` times, most frequent first, equals in the order of
  // their bytes; `limit` counts the special ones too.
  Vocabulary(const Counts& counts, std::int64_t min_frequency, std::int64_t limit);

  // One token a line. Special tokens may stand anywhere or be missing: they always get their own
  // ids, and the others follow in the file's order. `fault` says what is wrong with a token for
  // this use, or nothing. InputError with `name`:line on an empty line, a token twice, broken
  // UTF-8, or a fault.
  static Vocabulary parse(std::string_view bytes, const std::string& name,
                          const std::function<std::string(std::string_view)>& fault);
  // The same format, special tokens first.
  std::string serialized() const;

  std::int32_t id(std::string_view token) const;  // <unk> when it is not there
  const std::string& token(std::int32_t id) const;
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  bool add(std::string_view token);  // false when it is there already

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;  // without the special
};

}  // namespace regard
