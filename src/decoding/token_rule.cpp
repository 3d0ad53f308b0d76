#include "decoding/token_rule.h"

#include <algorithm>

namespace regard {

void MinimumLength::forbid(History history, std::vector<std::int64_t>& forbidden) const {
  if (static_cast<std::int64_t>(history.size()) < least_) forbidden.push_back(end_);
}

void NoRepeatedNgram::forbid(History history, std::vector<std::int64_t>& forbidden) const {
  const auto before = static_cast<std::size_t>(n_ - 1);  // the n-gram's tokens but the last
  if (history.size() < before) return;
  const auto latest = history.last(before);
  for (auto end = before; end < history.size(); ++end) {
    if (std::ranges::equal(history.subspan(end - before, before), latest)) {
      forbidden.push_back(history[end]);
    }
  }
}

std::vector<std::unique_ptr<TokenRule>> token_rules(const SearchOptions& options) {
  std::vector<std::unique_ptr<TokenRule>> rules;
  if (options.min_output_length > 0) {
    rules.push_back(std::make_unique<MinimumLength>(options.min_output_length, options.end_token));
  }
  if (options.no_repeat_ngram > 0) {
    rules.push_back(std::make_unique<NoRepeatedNgram>(options.no_repeat_ngram));
  }
  return rules;
}

}  // namespace regard
