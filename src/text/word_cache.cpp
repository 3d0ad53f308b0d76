#include "text/word_cache.h"

#include <algorithm>
#include <utility>

namespace regard {
namespace {

// About 30 MB when full.
constexpr std::size_t max_words = 200000;
constexpr std::size_t max_bytes = 32;

}  // namespace

std::vector<std::int32_t> WordCache::encode(std::string_view line, const Encode& encode_word) {
  const std::lock_guard lock(mutex_);
  std::vector<std::int32_t> ids;
  while (!line.empty()) {
    const auto word = line.substr(0, line.find(' '));
    if (!word.empty()) append_word(word, encode_word, ids);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return ids;
}

void WordCache::append_word(std::string_view word, const Encode& encode_word,
                            std::vector<std::int32_t>& ids) {
  const auto cached = words_.find(word);
  if (cached != words_.end()) {
    ids.insert(ids.end(), cached->second.begin(), cached->second.end());
    return;
  }
  auto word_ids = encode_word(word);
  ids.insert(ids.end(), word_ids.begin(), word_ids.end());
  if (word.size() <= max_bytes && words_.size() < max_words) {
    words_.emplace(word, std::move(word_ids));
  }
}

}  // namespace regard
