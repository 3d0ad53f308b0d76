// Remembers the token ids of words, where a line's are those of its words in turn: few words make
// up most of a text. Safe to use from several threads, one at a time inside.
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

  // The words of a line are what spaces part; `encode_word` is asked for those not yet known. Long
  // words, and new ones once there are very many, are not kept.
  std::vector<std::int32_t> encode(std::string_view line, const Encode& encode_word);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>{}(word);
    }
  };

  void add(std::string_view word, const Encode& encode_word, std::vector<std::int32_t>& ids);

  std::mutex mutex_;
  std::unordered_map<std::string, std::vector<std::int32_t>, Hash, std::equal_to<>> words_;
};

}  // namespace regard
