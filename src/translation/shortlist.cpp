#include "translation/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/error.h"
#include "base/sha256.h"
#include "data/line_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::string_view title = "regard shortlist 1";

// Returns the last line of a file with this number of lines between the first and the last.
std::string last_line(std::int64_t lines) {
  return fmt::format("end\t{}", lines);
}

std::string vocabulary_hash(const Tokenizers& tokenizers) {
  const auto source = tokenizers.source->serialized();
  const auto target = tokenizers.target->serialized();
  return sha256(fmt::format("{} {}{}", source.size(), source, target));
}

std::string escaped(const std::string& token) {
  std::string text;
  for (const auto c : token) {
    if (c == '\\') text += "\\\\";
    if (c == '\t') text += "\\t";
    if (c != '\\' && c != '\t') text += c;
  }
  return text;
}

// The ids of the tokens of a vocabulary, by their escaped text.
using Ids = std::unordered_map<std::string, std::int32_t>;

Ids ids_of(const Tokenizer& tokenizer) {
  Ids ids;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id)
    ids.emplace(escaped(tokenizer.token(id)), id);
  return ids;
}

// A target token with a count or a probability. Sorts by decreasing number, then by token.
template <typename Number>
struct Entry {
  std::int32_t token;
  Number number;
  bool operator<(const Entry& other) const {
    return std::tuple(-number, token) < std::tuple(-other.number, other.token);
  }
};

// Appends the lines of one source token to the file.
void append_lines(std::string& file, const std::string& source,
                  std::vector<Entry<std::int64_t>> entries, const Tokenizer& target) {
  std::sort(entries.begin(), entries.end());
  double total = 0;
  for (const auto& entry : entries) total += static_cast<double>(entry.number);
  for (const auto& entry : entries) {
    file += fmt::format("{}\t{}\t{:.6f}\n", source, escaped(target.token(entry.token)),
                        static_cast<double>(entry.number) / total);
  }
}

struct Line {
  std::string source, target;
  double number;
};

Line parse_line(const std::string& line, const std::string& where) {
  const auto first = line.find('\t');
  const auto second = first == std::string::npos ? first : line.find('\t', first + 1);
  double number = 0;
  if (second != std::string::npos) {
    const auto* begin = line.data() + second + 1;
    const auto* end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error == std::errc() && stop == end && number >= 0 && number <= 1) {
      return {line.substr(0, first), line.substr(first + 1, second - first - 1), number};
    }
  }
  throw InputError(
      "{}: found `{}`, expected a source token, a target token and a number from 0 to 1, separated "
      "by tabs; write the file again with regard shortlist",
      where, excerpt(line));
}

std::vector<std::int32_t> first_tokens(std::vector<Entry<double>> entries, std::size_t count) {
  std::sort(entries.begin(), entries.end());
  if (entries.size() > count) entries.resize(count);
  std::vector<std::int32_t> tokens;
  for (const auto& entry : entries) tokens.push_back(entry.token);
  return tokens;
}

}  // namespace

void LinkCounts::add_target(std::span<const std::int32_t> target) {
  for (const auto token : target) ++targets_[token];
}

std::string LinkCounts::to_file(const Tokenizers& tokenizers) const {
  const auto& target = *tokenizers.target;
  auto file = fmt::format("{} {}\n", title, vocabulary_hash(tokenizers));
  std::vector<Entry<std::int64_t>> entries;
  for (const auto& [token, count] : targets_) entries.push_back({token, count});
  append_lines(file, "", entries, target);
  for (auto link = links_.begin(); link != links_.end();) {
    const auto source = link->first.first;
    entries.clear();
    for (; link != links_.end() && link->first.first == source; ++link) {
      entries.push_back({link->first.second, link->second});
    }
    append_lines(file, escaped(tokenizers.source->token(source)), entries, target);
  }
  const auto lines = std::count(file.begin(), file.end(), '\n') - 1;
  return file + last_line(lines) + '\n';
}

Shortlist::Shortlist(const std::string& path, const Tokenizers& tokenizers, std::size_t frequent,
                     std::size_t best) {
  LineReader reader(path);
  std::string text;
  reader.next(text);
  if (text.compare(0, title.size(), title) != 0) {
    throw InputError("{}:1: found `{}`, expected `{} …`; write the file with regard shortlist",
                     path, excerpt(text), title);
  }
  if (text != fmt::format("{} {}", title, vocabulary_hash(tokenizers))) {
    throw ConfigError(
        "{}:1: found a shortlist for other vocabularies than those of the model; write one for "
        "this "
        "model with regard shortlist",
        path);
  }
  const auto source_ids = ids_of(*tokenizers.source);
  const auto target_ids = ids_of(*tokenizers.target);
  std::vector<std::vector<Entry<double>>> by_source(
      static_cast<std::size_t>(tokenizers.source->size()));
  std::vector<Entry<double>> by_frequency;
  std::int64_t lines = 0;
  bool is_complete = false;
  while (reader.next(text)) {
    const auto where = fmt::format("{}:{}", path, reader.line_number());
    if (is_complete) {
      throw InputError(
          "{}: found `{}`, expected the end of the file; write the file again with "
          "regard shortlist",
          where, excerpt(text));
    }
    is_complete = text == last_line(lines);
    if (is_complete) continue;
    ++lines;
    const auto line = parse_line(text, where);
    const auto find = [&](const Ids& ids, const std::string& token, const char* side) {
      const auto found = ids.find(token);
      if (found != ids.end()) return found->second;
      throw InputError(
          "{}: found `{}`, which the {} vocabulary does not have; write the file again "
          "with regard shortlist",
          where, token, side);
    };
    const auto target = find(target_ids, line.target, "target");
    if (line.source.empty()) {
      by_frequency.push_back({target, line.number});
    } else {
      by_source[static_cast<std::size_t>(find(source_ids, line.source, "source"))].push_back(
          {target, line.number});
    }
  }
  if (!is_complete) {
    throw InputError(
        "{}:{}: found the end of the file, expected the line `{}`: the file is cut off; write it "
        "again with regard shortlist",
        path, reader.line_number() + 1, last_line(lines));
  }
  frequent_ = first_tokens(std::move(by_frequency), frequent);
  frequent_.insert(frequent_.end(), {unk_id, eos_id});
  for (auto& entries : by_source) by_source_.push_back(first_tokens(std::move(entries), best));
}

std::vector<std::int32_t> Shortlist::tokens(std::span<const std::int32_t> source,
                                            const SentenceOptions& constraints) const {
  auto tokens = frequent_;
  const auto add = [&](const auto& more) { tokens.insert(tokens.end(), more.begin(), more.end()); };
  for (const auto token : source) add(by_source_[static_cast<std::size_t>(token)]);
  add(by_source_[eos_id]);
  add(constraints.prefix);
  for (const auto& phrase : constraints.required_phrases) add(phrase);
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace regard
