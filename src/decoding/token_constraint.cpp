#include "decoding/token_constraint.h"

#include <algorithm>

#include "decoding/lexical_constraints.h"

namespace regard {
namespace {

bool ends_in(std::span<const std::int32_t> tokens, std::span<const std::int32_t> phrase) {
  return tokens.size() >= phrase.size() && std::ranges::equal(tokens.last(phrase.size()), phrase);
}

}  // namespace

void MinimumLength::apply(const History& history, TokenMask& mask) const {
  if (static_cast<std::int64_t>(history.tokens.size()) < min_length_) mask.banned.push_back(eos_id);
}

void NoRepeatNgram::apply(const History& history, TokenMask& mask) const {
  const std::span tokens(history.tokens);
  // An n-gram is a context and one more token: bans each token that followed an earlier occurrence
  // of the current context.
  const auto context_length = static_cast<std::size_t>(options_->no_repeat_ngram - 1);
  if (tokens.size() < context_length) return;
  ConstraintProgress progress;
  if (history.sentence != nullptr) {
    progress = constraint_progress(tokens, history.sentence->required_phrases, options_->words);
  }
  const auto is_required = [&](auto token) { return std::ranges::count(progress.next, token) > 0; };
  for (auto end = context_length; end < tokens.size(); ++end) {
    if (ends_in(tokens.first(end), tokens.last(context_length)) && !is_required(tokens[end])) {
      mask.banned.push_back(tokens[end]);
    }
  }
}

void ForcedPrefix::apply(const History& history, TokenMask& mask) const {
  const auto& prefix = history.sentence->prefix;
  const auto position = history.tokens.size();
  if (const auto& pattern = history.sentence->prefix_pattern) {
    const auto path = pattern->path(history.tokens);
    mask.forced.assign(path.next.begin(), path.next.end());
  } else if (position < prefix.size()) {
    mask.forced = {prefix[position]};
  }
}

WholeWordPrefix::WholeWordPrefix(const WordBoundaries& words) : words_(words) {
  for (std::size_t token = 0; token < words.begins_inside.size(); ++token) {
    if (words.begins_inside[token]) begin_inside_.push_back(static_cast<std::int32_t>(token));
  }
}

void WholeWordPrefix::apply(const History& history, TokenMask& mask) const {
  const auto& prefix = history.sentence->prefix;
  if (prefix.empty() || history.tokens.empty()) return;
  const auto& pattern = history.sentence->prefix_pattern;
  const bool ends =
      pattern ? pattern->path(history.tokens).ends : history.tokens.size() == prefix.size();
  if (!ends) return;
  for (const auto token : begin_inside_) {
    if (words_.continues(history.tokens.back(), token)) mask.banned.push_back(token);
  }
  const auto copied = static_cast<std::int32_t>(words_.begins_inside.size());
  if (words_.continues(history.tokens.back(), copied)) mask.end = copied;
}

void LexicalConstraints::apply(const History& history, TokenMask& mask) const {
  const auto progress =
      constraint_progress(history.tokens, history.sentence->required_phrases, options_->words);
  if (!progress.complete) mask.banned.push_back(eos_id);
}

void BadWords::apply(const History& history, TokenMask& mask) const {
  for (const auto& phrase : history.sentence->bad_words) {
    for (const auto token : phrase.completing(history.tokens, words_)) mask.banned.push_back(token);
  }
}

void ConstraintKinds::include(const SentenceOptions& sentence) {
  prefix = prefix || !sentence.prefix.empty();
  required_phrases = required_phrases || !sentence.required_phrases.empty();
  bad_words = bad_words || !sentence.bad_words.empty();
}

std::vector<std::unique_ptr<TokenConstraint>> token_constraints(const SearchRequest& options,
                                                                const ConstraintKinds& kinds) {
  std::vector<std::unique_ptr<TokenConstraint>> constraints;
  const auto add = [&]<typename Constraint>(Constraint constraint) {
    constraints.push_back(std::make_unique<Constraint>(std::move(constraint)));
  };
  if (options.min_output_length > 0) add(MinimumLength(options.min_output_length));
  if (options.no_repeat_ngram > 0) add(NoRepeatNgram(options));
  if (kinds.prefix) {
    add(ForcedPrefix());
    add(WholeWordPrefix(options.words));
  }
  if (kinds.required_phrases) add(LexicalConstraints(options));
  if (kinds.bad_words) add(BadWords(options.words));
  return constraints;
}

}  // namespace regard
