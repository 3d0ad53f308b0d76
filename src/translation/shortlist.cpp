#include "translation/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/error.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "data/line_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::string_view title = "regard shortlist 1";

// Returns the last line of a file with this number of lines between the first and the last.
std::string last_line(std::int64_t lines) {
  return fmt::format("end\t{}", lines);
}

std::string vocabulary_hash(const TextCodec& codec) {
  const auto source = codec.source->serialized();
  const auto target = codec.target->serialized();
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
class Ids {
 public:
  Ids(const Tokenizer& tokenizer, std::string_view side) : side_(side) {
    for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
      ids_.emplace(escaped(tokenizer.token(id)), id);
    }
  }
  // Returns the id of a token in a line of `reader`. Throws InputError if there is none.
  std::int32_t find(std::string_view token, const LineReader& reader) const {
    const auto found = ids_.find(token);
    if (found != ids_.end()) return found->second;
    throw InputError(
        "{}:{}: found `{}`, which the {} vocabulary does not have; write the file again with "
        "regard shortlist",
        reader.name(), reader.line_number(), excerpt(token), side_);
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::string_view side_;
};

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
  std::string_view source, target;
  double number;
};

// Splits a line, the last that `reader` has read.
Line parse_line(std::string_view line, const LineReader& reader) {
  const auto first = line.find('\t');
  const auto second = first == std::string_view::npos ? first : line.find('\t', first + 1);
  if (second != std::string_view::npos) {
    const auto number = parse_number<double>(line.substr(second + 1));
    if (number && *number >= 0 && *number <= 1) {
      return {line.substr(0, first), line.substr(first + 1, second - first - 1), *number};
    }
  }
  throw InputError(
      "{}:{}: found `{}`, expected a source token, a target token and a number from 0 to 1, "
      "separated by tabs; write the file again with regard shortlist",
      reader.name(), reader.line_number(), excerpt(line));
}

// Reads the first line of a file, which names the vocabularies.
void check_first_line(LineReader& reader, const TextCodec& codec) {
  std::string line;
  reader.next(line);
  if (!line.starts_with(title)) {
    throw InputError("{}:1: found `{}`, expected `{} …`; write the file with regard shortlist",
                     reader.name(), excerpt(line), title);
  }
  if (line != fmt::format("{} {}", title, vocabulary_hash(codec))) {
    throw ConfigError(
        "{}:1: found a shortlist for other vocabularies than those of the model; write one for "
        "this model with regard shortlist",
        reader.name());
  }
}

// Reads the next entry; `lines` is the number of entries before it. Returns false at the last line.
// Throws InputError if the file ends before it or goes on after it.
bool next_entry(LineReader& reader, std::string& line, std::int64_t lines) {
  if (!reader.next(line)) {
    throw InputError(
        "{}:{}: found the end of the file, expected the line `{}`: the file is cut off; write it "
        "again with regard shortlist",
        reader.name(), reader.line_number() + 1, last_line(lines));
  }
  if (!line.starts_with("end\t") || line != last_line(lines)) return true;
  if (reader.next(line)) {
    throw InputError(
        "{}:{}: found `{}`, expected the end of the file; write the file again with regard "
        "shortlist",
        reader.name(), reader.line_number(), excerpt(line));
  }
  return false;
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

std::string LinkCounts::to_file(const TextCodec& codec) const {
  const auto& target = *codec.target;
  auto file = fmt::format("{} {}\n", title, vocabulary_hash(codec));
  std::vector<Entry<std::int64_t>> entries;
  for (const auto& [token, count] : targets_) entries.push_back({token, count});
  append_lines(file, "", entries, target);
  for (auto link = links_.begin(); link != links_.end();) {
    const auto source = link->first.first;
    entries.clear();
    for (; link != links_.end() && link->first.first == source; ++link) {
      entries.push_back({link->first.second, link->second});
    }
    append_lines(file, escaped(codec.source->token(source)), entries, target);
  }
  const auto lines = std::count(file.begin(), file.end(), '\n') - 1;
  return file + last_line(lines) + '\n';
}

Shortlist::Shortlist(const std::string& path, const TextCodec& codec, std::size_t frequent,
                     std::size_t best)
    : target_size_(static_cast<std::size_t>(codec.target->size())) {
  LineReader reader(path);
  check_first_line(reader, codec);
  const Ids source_ids(*codec.source, "source");
  const Ids target_ids(*codec.target, "target");
  std::vector<Entry<double>> by_frequency;
  std::vector<std::vector<Entry<double>>> by_source(static_cast<std::size_t>(codec.source->size()));
  std::string text;
  for (std::int64_t lines = 0; next_entry(reader, text, lines); ++lines) {
    const auto line = parse_line(text, reader);
    auto& entries = line.source.empty()
                        ? by_frequency
                        : by_source[static_cast<std::size_t>(source_ids.find(line.source, reader))];
    entries.push_back({target_ids.find(line.target, reader), line.number});
  }
  frequent_ = first_tokens(std::move(by_frequency), frequent);
  frequent_.insert(frequent_.end(), {unk_id, eos_id});
  for (auto& entries : by_source) by_source_.push_back(first_tokens(std::move(entries), best));
}

std::vector<std::int32_t> Shortlist::tokens(std::span<const std::int32_t> source,
                                            const SentenceOptions& constraints) const {
  std::vector<char> has(target_size_);
  const auto add = [&](const std::vector<std::int32_t>& tokens) {
    for (const auto token : tokens) has[static_cast<std::size_t>(token)] = 1;
  };
  add(frequent_);
  for (const auto token : source) add(by_source_[static_cast<std::size_t>(token)]);
  add(by_source_[eos_id]);
  add(constraints.prefix);
  for (const auto& phrase : constraints.required_phrases) {
    for (const auto& state : phrase.states()) add(state.proposed);
  }
  std::vector<std::int32_t> tokens;
  for (std::size_t token = 0; token < has.size(); ++token) {
    if (has[token] != 0) tokens.push_back(static_cast<std::int32_t>(token));
  }
  return tokens;
}

}  // namespace regard
