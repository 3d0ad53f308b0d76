#include "decoding/token_rule.h"

#include <algorithm>

#include "decoding/demanded_phrases.h"

namespace regard {
namespace {

bool ends_in(std::span<const std::int32_t> tokens, std::span<const std::int32_t> phrase) {
  return tokens.size() >= phrase.size() && std::ranges::equal(tokens.last(phrase.size()), phrase);
}

}  // namespace

void MinimumLength::limit(const History& history, Limits& limits) const {
  if (static_cast<std::int64_t>(history.tokens.size()) < least_) limits.forbidden.push_back(eos_id);
}

void NoRepeatedNgram::limit(const History& history, Limits& limits) const {
  const std::span tokens(history.tokens);
  const auto before =
      static_cast<std::size_t>(options_->no_repeat_ngram - 1);  // the n-gram's tokens but the last
  if (tokens.size() < before) return;
  Progress progress;
  if (history.sentence != nullptr) {
    progress = progress_of(tokens, history.sentence->demanded, options_->inside_words);
  }
  const auto is_asked = [&](auto token) { return std::ranges::count(progress.next, token) > 0; };
  for (auto end = before; end < tokens.size(); ++end) {
    if (ends_in(tokens.first(end), tokens.last(before)) && !is_asked(tokens[end])) {
      limits.forbidden.push_back(tokens[end]);
    }
  }
}

void ForcedPrefix::limit(const History& history, Limits& limits) const {
  const auto& prefix = history.sentence->prefix;
  const auto place = history.tokens.size();
  if (place < prefix.size()) limits.only = prefix[place];
}

WholeWordPrefix::WholeWordPrefix(const std::vector<bool>& inside_words) {
  for (std::size_t token = 0; token < inside_words.size(); ++token) {
    if (inside_words[token]) inside_words_.push_back(static_cast<std::int64_t>(token));
  }
}

void WholeWordPrefix::limit(const History& history, Limits& limits) const {
  const auto& prefix = history.sentence->prefix;
  if (prefix.empty() || history.tokens.size() != prefix.size()) return;
  limits.forbidden.insert(limits.forbidden.end(), inside_words_.begin(), inside_words_.end());
}

void DemandedPhrases::limit(const History& history, Limits& limits) const {
  const auto progress =
      progress_of(history.tokens, history.sentence->demanded, options_->inside_words);
  if (!progress.complete) limits.forbidden.push_back(eos_id);
}

void BannedPhrases::limit(const History& history, Limits& limits) const {
  for (const std::span phrase : history.sentence->banned) {
    if (ends_in(history.tokens, phrase.first(phrase.size() - 1))) {
      limits.forbidden.push_back(phrase.back());
    }
  }
}

std::vector<std::unique_ptr<TokenRule>> token_rules(const SearchOptions& options,
                                                    const std::vector<SentenceOptions>& sentences) {
  const auto any = [&](auto SentenceOptions::*list) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const auto& sentence) { return !(sentence.*list).empty(); });
  };
  std::vector<std::unique_ptr<TokenRule>> rules;
  const auto add = [&]<typename Rule>(Rule rule) {
    rules.push_back(std::make_unique<Rule>(std::move(rule)));
  };
  if (options.min_output_length > 0) add(MinimumLength(options.min_output_length));
  if (options.no_repeat_ngram > 0) add(NoRepeatedNgram(options));
  if (any(&SentenceOptions::prefix)) {
    add(ForcedPrefix());
    add(WholeWordPrefix(options.inside_words));
  }
  if (any(&SentenceOptions::demanded)) add(DemandedPhrases(options));
  if (any(&SentenceOptions::banned)) add(BannedPhrases());
  return rules;
}

}  // namespace regard
