#include "text/n_best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::string_view bar = "|||";
constexpr std::string_view escaped_bar = "&#124;&#124;&#124;";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (auto at = line.find(bar); at != line.npos; at = line.find(bar)) {
    fields.push_back(trimmed(line.substr(0, at)));
    line.remove_prefix(at + bar.size());
  }
  fields.push_back(trimmed(line));
  return fields;
}

std::optional<double> to_number(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && !std::isnan(*value) ? value : std::nullopt;
}

bool is_number(std::string_view text) {
  return to_number(text).has_value();
}

// Features are names that end in =, and numbers, alone or right after a name: "lm= -1.5 tm=0.3".
bool is_feature(std::string_view word) {
  const auto equals = word.rfind('=');
  if (equals == word.npos) return is_number(word);
  return equals + 1 == word.size() || is_number(word.substr(equals + 1));
}

}  // namespace

std::vector<NBestFeature> parse_features(const NBestEntry& entry) {
  std::vector<NBestFeature> features;
  std::size_t current = 0;  // the feature of the next number; features.size() if it has no name
  for (auto word : split(entry.features, ' ')) {
    if (const auto equals = word.rfind('='); equals != word.npos) {
      const auto name = word.substr(0, equals);
      word.remove_prefix(equals + 1);
      const auto known = std::ranges::find(features, name, &NBestFeature::name);
      current = static_cast<std::size_t>(known - features.begin());
      if (known == features.end() && !name.empty()) features.push_back({std::string(name), {}});
    }
    const auto number = to_number(word);
    if (number && current < features.size()) features[current].numbers.push_back(*number);
  }
  return features;
}

bool has_feature(const NBestEntry& entry, std::string_view name) {
  const auto features = parse_features(entry);
  return std::ranges::find(features, name, &NBestFeature::name) != features.end();
}

std::optional<double> feature_value(const NBestEntry& entry, std::string_view name) {
  const auto features = parse_features(entry);
  const auto found = std::ranges::find(features, name, &NBestFeature::name);
  if (found == features.end() || found->numbers.size() != 1) return std::nullopt;
  return found->numbers[0];
}

void add_feature(NBestEntry& entry, std::string_view name, double value) {
  if (!entry.features.empty()) entry.features += " ";
  entry.features += fmt::format("{}= {:.6f}", name, value);
}

NBestEntry parse_n_best(std::string_view line, const std::string& file, std::int64_t line_number) {
  const auto fields = split_fields(line);
  if (fields.size() < 2) {
    throw InputError("{}:{}: found no |||, expected number ||| translation ||| features ||| score",
                     file, line_number);
  }
  NBestEntry entry;
  const auto sentence = parse_number<std::size_t>(fields[0]);
  if (!sentence) {
    throw InputError("{}:{}: found '{}', expected the number of a sentence, counted from 0", file,
                     line_number, excerpt(fields[0]));
  }
  entry.sentence = *sentence;
  entry.text = replace_all(fields[1], escaped_bar, bar);
  if (fields.size() > 2) entry.features = fields[2];
  for (const auto word : split(entry.features, ' ')) {
    if (word.empty() || is_feature(word)) continue;
    throw InputError("{}:{}: found the feature '{}', expected name= and numbers", file, line_number,
                     excerpt(word));
  }
  if (fields.size() > 3) entry.score = fields[3];
  if (!entry.score.empty() && !is_number(entry.score)) {
    throw InputError("{}:{}: found the score '{}', expected a number", file, line_number,
                     excerpt(entry.score));
  }
  for (std::size_t i = 4; i < fields.size(); ++i) entry.extra_fields.emplace_back(fields[i]);
  return entry;
}

std::string format_n_best(const NBestEntry& entry) {
  auto line = fmt::format("{} ||| {}", entry.sentence, replace_all(entry.text, bar, escaped_bar));
  // The score, even if empty, must be written before extra fields.
  const bool reaches_score = !entry.score.empty() || !entry.extra_fields.empty();
  if (reaches_score || !entry.features.empty()) line += " ||| " + entry.features;
  if (reaches_score) line += " ||| " + entry.score;
  for (const auto& field : entry.extra_fields) line += " ||| " + field;
  return line;
}

}  // namespace regard
