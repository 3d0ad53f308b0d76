#include "commands/rerank/reranked_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "commands/scorer.h"
#include "data/byte_stream.h"
#include "text/unicode.h"

namespace regard {
namespace {

std::string place_of(const RerankedList& list, std::size_t entry) {
  return fmt::format("{}:{}", input_name(list.path), entry + 1);
}

std::optional<double> value_of(const NBestEntry& entry, const std::string& feature) {
  if (feature == "length") return static_cast<double>(word_count(entry.text));
  if (feature == "score") return parse_number<double>(entry.score);
  return feature_value(entry, feature);
}

bool names_feature(const NBestEntry& entry, const std::string& feature) {
  return feature == "score" ? !entry.score.empty() : has_feature(entry, feature);
}

// Returns the names of the features of which the entry has exactly one finite number.
std::vector<std::string> known_features(const NBestEntry& entry) {
  std::vector<std::string> known;
  const auto score = value_of(entry, "score");
  if (score && std::isfinite(*score)) known.emplace_back("score");
  for (auto& feature : parse_features(entry)) {
    const bool is_hidden = feature.name == "score" || feature.name == "length";
    const bool is_number = feature.numbers.size() == 1 && std::isfinite(feature.numbers[0]);
    if (is_number && !is_hidden) known.push_back(std::move(feature.name));
  }
  known.emplace_back("length");
  return known;
}

[[noreturn]] void reject_feature(const RerankedList& list, const std::string& feature,
                                 const FeatureOrigin& origin) {
  const auto known = common_features(list);
  const auto remedy = feature == "score"
                          ? "`regard translate --n-best` writes it"
                          : fmt::format("add it with `regard score --n-best {} --feature {}`",
                                        shell_word(list.path), shell_word(feature));
  const auto message = fmt::format(
      "{}: found the feature {}, which {} does not have; expected one of {}; {}{}", origin.name,
      feature, input_name(list.path), fmt::join(known, ", "), remedy, did_you_mean(feature, known));
  if (origin.is_option) throw ConfigError("{}", message);
  throw InputError("{}", message);
}

[[noreturn]] void reject_entry(const RerankedList& list, std::size_t i, const std::string& feature,
                               const FeatureOrigin& origin) {
  const auto& entry = list.entries[i];
  const auto reason =
      origin.name + (origin.is_option ? " names it; leave it out there" : " names it");
  if (const auto value = value_of(entry, feature)) {
    throw InputError("{}: found {} for the feature {}, expected a finite number; {}",
                     place_of(list, i), *value, feature, reason);
  }
  if (names_feature(entry, feature)) {
    throw InputError("{}: found several numbers or none of the feature {}, expected one; {}",
                     place_of(list, i), feature, reason);
  }
  throw InputError("{}: found no feature {}, expected one of {}; {}", place_of(list, i), feature,
                   fmt::join(known_features(entry), ", "), reason);
}

}  // namespace

RerankedList read_list(const std::string& path) {
  RerankedList list{path, read_n_best(path), {}};
  if (list.entries.empty()) {
    throw InputError("{}: empty, expected an n-best list of `regard translate --n-best`",
                     input_name(path));
  }
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    const auto sentence = list.entries[i].sentence;
    const auto next = list.first.size();
    if (sentence == next) {
      list.first.push_back(i);
    } else if (next == 0 || sentence != next - 1) {
      throw InputError(
          "{}: found sentence {}, expected {}; number the sentences of a list from 0, "
          "in order and without gaps",
          place_of(list, i), sentence, next == 0 ? "0" : fmt::format("{} or {}", next - 1, next));
    }
  }
  list.first.push_back(list.entries.size());
  return list;
}

std::vector<std::string> common_features(const RerankedList& list) {
  auto common = known_features(list.entries.front());
  for (const auto& entry : list.entries) {
    const auto known = known_features(entry);
    std::erase_if(common, [&](const auto& name) { return std::ranges::count(known, name) == 0; });
  }
  return common;
}

std::vector<double> feature_values(const RerankedList& list, const std::string& feature,
                                   const FeatureOrigin& origin) {
  std::vector<double> values;
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    const auto value = value_of(list.entries[i], feature);
    if (value && std::isfinite(*value)) {
      values.push_back(*value);
      continue;
    }
    const auto has_it = [&](const NBestEntry& entry) { return names_feature(entry, feature); };
    if (std::ranges::none_of(list.entries, has_it)) reject_feature(list, feature, origin);
    reject_entry(list, i, feature, origin);
  }
  return values;
}

}  // namespace regard
