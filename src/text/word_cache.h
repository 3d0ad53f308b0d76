// Caches the token ids of words. For tokenizers that encode a line word by word: few distinct words
// make up most of a text. Thread-safe; a lock is held while a line is encoded.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regard {

class WordCache {
 public:
  using Encode = std::function<std::vector<std::int32_t>(std::string_view word)>;

  // Splits the line at spaces and returns the ids of its words. Calls `encode_word` for words that
  // are not in the cache. Long words are not stored, nor are new ones when the cache is full.
  std::vector<std::int32_t> encode(std::string_view line, const Encode& encode_word);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>{}(word);
    }
  };

  void append_word(std::string_view word, const Encode& encode_word,
                   std::vector<std::int32_t>& ids);

  std::mutex mutex_;
  std::unordered_map<std::string, std::vector<std::int32_t>, Hash, std::equal_to<>> words_;
};

}  // namespace regard
