#include "data/synthetic_filter.h"

#include <algorithm>

#include "data/line_checks.h"
#include "text/unicode.h"

namespace regard {

std::string_view name_of(PairFate fate) {
  constexpr std::array<std::string_view, pair_fates> names = {
      "kept",     "empty",      "unfinished", "copies",    "too short",
      "too long", "high ratio", "low score",  "duplicates"};
  return names[static_cast<std::size_t>(fate)];
}

PairFate SyntheticFilter::fate_of(const TranslatedLine& line) const {
  const auto [shorter, longer] = std::minmax(line.text_tokens, line.translation_tokens);
  if (is_blank(line.text) || is_blank(line.translation) ||
      line.translation.find('\n') != std::string_view::npos) {
    return PairFate::empty;
  }
  if (!line.finished && !options_.keep_unfinished) return PairFate::unfinished;
  if (line.text == line.translation && !options_.keep_copies) return PairFate::copy;
  if (shorter < options_.min_length) return PairFate::too_short;
  if (options_.max_length > 0 && longer > options_.max_length) return PairFate::too_long;
  if (exceeds_max_ratio(longer, shorter, options_.max_ratio)) return PairFate::high_ratio;
  const auto steps = line.translation_tokens + (line.finished ? 1 : 0);
  // The negation also drops a score that is not a number.
  if (options_.min_score &&
      !(line.log_probability >= *options_.min_score * static_cast<double>(steps))) {
    return PairFate::low_score;
  }
  return PairFate::kept;
}

PairFate SyntheticFilter::judge(const TranslatedLine& line, std::string_view source,
                                std::string_view target) {
  auto fate = fate_of(line);
  if (fate == PairFate::kept && !options_.keep_duplicates &&
      !pairs_.add(hash_of_pair(source, target))) {
    fate = PairFate::duplicate;
  }
  count(fate);
  return fate;
}

void SyntheticFilter::add_earlier(std::string_view source, std::string_view target) {
  if (!options_.keep_duplicates) pairs_.add(hash_of_pair(source, target));
}

Json SyntheticFilter::counts() const {
  Json counts = Json::object();
  for (std::size_t i = 0; i < pair_fates; ++i) {
    counts[std::string(name_of(static_cast<PairFate>(i)))] = counts_[i];
  }
  return counts;
}

void SyntheticFilter::set_counts(const Json& counts) {
  for (std::size_t i = 0; i < pair_fates; ++i) {
    counts_[i] = counts.value(std::string(name_of(static_cast<PairFate>(i))), std::int64_t{0});
  }
}

}  // namespace regard
