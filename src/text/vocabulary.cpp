#include "text/vocabulary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "text/unicode.h"

namespace regard {
namespace {

bool is_special(std::string_view token) {
  return std::find(special_names.begin(), special_names.end(), token) != special_names.end();
}

// Removes the first line from `bytes` and returns it without its line end. Keeps a carriage return
// that is alone on its line: it is then a token, a character.
std::string_view take_line(std::string_view& bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  if (line.size() > 1 && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

std::string_view special_name(std::int32_t id) {
  return special_names.at(static_cast<std::size_t>(id));
}

Vocabulary::Vocabulary() : tokens_(special_names.begin(), special_names.end()) {}

Vocabulary::Vocabulary(const TokenCounts& counts, std::int64_t min_frequency, std::int64_t limit)
    : Vocabulary() {
  // Negative counts: sorts by descending frequency, then by bytes.
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const auto& [token, count] : counts) {
    if (count >= min_frequency && !is_special(token)) order.emplace_back(-count, token);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [count, token] : order) {
    if (size() >= limit) break;
    add(token);
  }
}

Vocabulary Vocabulary::parse(std::string_view bytes, const std::string& name,
                             const std::function<std::string(std::string_view)>& fault) {
  Vocabulary vocabulary;
  std::set<std::string_view> specials;
  // Skips a byte order mark, unless it is alone on the first line and therefore a token.
  constexpr std::string_view byte_order_mark = "\uFEFF";
  if (bytes.starts_with(byte_order_mark) &&
      !bytes.substr(byte_order_mark.size()).starts_with('\n')) {
    bytes.remove_prefix(byte_order_mark.size());
  }
  for (std::int64_t number = 1; !bytes.empty(); ++number) {
    const std::string_view token = take_line(bytes);
    if (token.empty()) {
      throw InputError("{}:{}: found an empty line, expected one token per line", name, number);
    }
    if (const std::size_t at = first_invalid_utf8(token); at != std::string_view::npos) {
      throw InputError("{}:{}: byte {} is not UTF-8", name, number, at + 1);
    }
    const bool special = is_special(token);
    if (special ? !specials.insert(token).second : !vocabulary.add(token)) {
      throw InputError("{}:{}: found the token '{}' again; remove the duplicate", name, number,
                       token);
    }
    if (special) continue;
    if (const std::string what = fault(token); !what.empty()) {
      throw InputError("{}:{}: '{}' {}", name, number, token, what);
    }
  }
  return vocabulary;
}

std::string Vocabulary::serialized() const {
  std::string bytes;
  for (const std::string& token : tokens_) bytes += token + '\n';
  return bytes;
}

std::int32_t Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? unk_id : found->second;
}

const std::string& Vocabulary::token(std::int32_t id) const {
  return tokens_.at(static_cast<std::size_t>(id));
}

bool Vocabulary::add(std::string_view token) {
  if (!ids_.emplace(token, static_cast<std::int32_t>(tokens_.size())).second) return false;
  tokens_.emplace_back(token);
  return true;
}

}  // namespace regard
