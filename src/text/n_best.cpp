#include "text/n_best.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "base/error.h"
#include "text/utf8.h"

namespace regard {
namespace {

constexpr std::string_view bar = "|||";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (auto at = line.find(bar); at != line.npos; at = line.find(bar)) {
    fields.push_back(trimmed(line.substr(0, at)));
    line.remove_prefix(at + bar.size());
  }
  fields.push_back(trimmed(line));
  return fields;
}

}  // namespace

NBestEntry parse_n_best(std::string_view text, const std::string& file, std::int64_t line) {
  const auto fields = fields_of(text);
  if (fields.size() < 2 || fields.size() > 4) {
    throw InputError(
        "{}:{}: found {} field(s) between |||, wanted number ||| translation ||| features ||| "
        "score",
        file, line, fields.size());
  }
  NBestEntry entry;
  const auto number = fields[0];
  const char* end = number.data() + number.size();
  const auto parsed = std::from_chars(number.data(), end, entry.sentence);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw InputError("{}:{}: found '{}', wanted the number of a sentence, counted from 0", file,
                     line, excerpt(number));
  }
  entry.text = fields[1];
  if (fields.size() > 2) entry.features = fields[2];
  if (fields.size() > 3) entry.score = fields[3];
  return entry;
}

std::string to_n_best(const NBestEntry& entry) {
  auto line = fmt::format("{} ||| {}", entry.sentence, entry.text);
  if (!entry.features.empty() || !entry.score.empty()) line += " ||| " + entry.features;
  if (!entry.score.empty()) line += " ||| " + entry.score;
  return line;
}

}  // namespace regard
