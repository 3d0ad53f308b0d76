#include "text/word_cache.h"

#include <algorithm>
#include <utility>

namespace regard {
namespace {

// Some 30 MB when full.
constexpr std::size_t max_words = 200000;
constexpr std::size_t max_bytes = 32;

}  // namespace

std::vector<std::int32_t> WordCache::encode(std::string_view line, const Encode& encode_word) {
  const std::lock_guard lock(mutex_);
  std::vector<std::int32_t> ids;
  while (!line.empty()) {
    const auto word = line.substr(0, line.find(' '));
    if (!word.empty()) add(word, encode_word, ids);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return ids;
}

void WordCache::add(std::string_view word, const Encode& encode_word,
                    std::vector<std::int32_t>& ids) {
  const auto known = words_.find(word);
  if (known != words_.end()) {
    ids.insert(ids.end(), known->second.begin(), known->second.end());
    return;
  }
  auto found = encode_word(word);
  ids.insert(ids.end(), found.begin(), found.end());
  if (word.size() <= max_bytes && words_.size() < max_words) {
    words_.emplace(word, std::move(found));
  }
}

}  // namespace regard
