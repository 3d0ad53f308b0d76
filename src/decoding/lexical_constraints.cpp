#include "decoding/lexical_constraints.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace regard {
namespace {

bool is_continuation(const std::vector<bool>& continues_word, std::int32_t token) {
  return static_cast<std::size_t>(token) < continues_word.size() &&
         continues_word[static_cast<std::size_t>(token)];
}

// The occurrences of a phrase in a hypothesis, without overlap.
struct Occurrences {
  std::int64_t count = 0;
  std::size_t end = 0;  // position after the last occurrence
  // The last occurrence ends the tokens, and is void if the next token continues its word.
  bool at_end = false;
};

Occurrences find_phrase(std::span<const std::int32_t> tokens,
                        const std::vector<std::int32_t>& phrase,
                        const std::vector<bool>& continues_word) {
  Occurrences occurrences;
  const auto n = phrase.size();
  for (std::size_t begin = 0; begin + n <= tokens.size();) {
    const auto end = begin + n;
    const bool matches = std::equal(phrase.begin(), phrase.end(), tokens.begin() + begin) &&
                         (end == tokens.size() || !is_continuation(continues_word, tokens[end]));
    if (matches) occurrences = {occurrences.count + 1, end, end == tokens.size()};
    begin = matches ? end : begin + 1;
  }
  return occurrences;
}

// Returns the length of the longest proper prefix of the phrase with which the tokens end.
std::size_t started_length(std::span<const std::int32_t> tokens,
                           const std::vector<std::int32_t>& phrase) {
  for (auto n = std::min(tokens.size(), phrase.size() - 1); n > 0; --n) {
    if (std::equal(phrase.begin(), phrase.begin() + static_cast<std::ptrdiff_t>(n),
                   tokens.end() - static_cast<std::ptrdiff_t>(n))) {
      return n;
    }
  }
  return 0;
}

}  // namespace

ConstraintProgress constraint_progress(std::span<const std::int32_t> tokens,
                                       const Phrases& required_phrases,
                                       const std::vector<bool>& continues_word) {
  ConstraintProgress progress;
  // The next token either begins a word, and the phrases at the end are met, or it continues the
  // last word, and they are not. Counts the tokens in both cases; the result is the larger number.
  std::int64_t certain = 0;  // tokens of phrases that are met in both cases
  std::int64_t at_end = 0;   // tokens of phrases that are met only if the next token begins a word
  // Tokens of the longest phrase that has begun and whose next token …
  std::int64_t started_word = 0;          // … begins a word
  std::int64_t started_continuation = 0;  // … continues the last word
  for (auto phrase = required_phrases.begin(); phrase != required_phrases.end(); ++phrase) {
    if (std::find(required_phrases.begin(), phrase, *phrase) != phrase)
      continue;  // counted with its first copy
    const auto required = std::count(required_phrases.begin(), required_phrases.end(), *phrase);
    const auto size = static_cast<std::int64_t>(phrase->size());
    const auto found = find_phrase(tokens, *phrase, continues_word);
    const bool last_at_end = found.at_end && found.count <= required;
    certain += size * (std::min<std::int64_t>(found.count, required) - (last_at_end ? 1 : 0));
    at_end += last_at_end ? size : 0;
    if (found.count >= required) continue;
    progress.complete = false;
    const auto length = started_length(tokens.subspan(found.end), *phrase);
    const auto next = (*phrase)[length];
    progress.next.push_back(next);
    if (length > 0) progress.next.push_back(phrase->front());  // begins it again
    auto& longest = is_continuation(continues_word, next) ? started_continuation : started_word;
    longest = std::max(longest, static_cast<std::int64_t>(length));
  }
  progress.met = certain + std::max(at_end + started_word, started_continuation);
  return progress;
}

std::vector<std::vector<std::int32_t>> next_required_tokens(
    const std::vector<History>& histories, const std::vector<bool>& continues_word) {
  std::vector<std::vector<std::int32_t>> next;
  bool any = false;
  for (const auto& history : histories) {
    next.emplace_back();
    if (history.sentence == nullptr || history.sentence->required_phrases.empty()) continue;
    next.back() =
        constraint_progress(history.tokens, history.sentence->required_phrases, continues_word)
            .next;
    any = true;
  }
  return any ? next : std::vector<std::vector<std::int32_t>>();
}

std::vector<Candidate> allocate_beam(const std::vector<Candidate>& candidates,
                                     const std::vector<std::vector<std::int32_t>>& histories,
                                     const Phrases& required_phrases,
                                     const SearchRequest& options) {
  const auto W = static_cast<std::size_t>(options.beam_size);
  std::map<std::int64_t, std::vector<Candidate>, std::greater<>> banks;  // each best first
  std::vector<std::int32_t> tokens;
  for (const auto& candidate : candidates) {
    if (!std::isfinite(candidate.log_probability)) continue;
    tokens = histories[static_cast<std::size_t>(candidate.parent)];
    if (candidate.token != eos_id) {
      tokens.push_back(static_cast<std::int32_t>(candidate.token));
    }
    banks[constraint_progress(tokens, required_phrases, options.continues_word).met].push_back(
        candidate);
  }
  std::vector<Candidate> ending;
  std::vector<Candidate> continuing;
  for (std::size_t round = 0; continuing.size() < W; ++round) {
    bool any = false;
    for (const auto& [met, bank] : banks) {
      if (round >= bank.size() || continuing.size() >= W) continue;
      any = true;
      (bank[round].token == eos_id ? ending : continuing).push_back(bank[round]);
    }
    if (!any) break;
  }
  std::stable_sort(continuing.begin(), continuing.end(), [](const auto& a, const auto& b) {
    return a.log_probability > b.log_probability;
  });
  if (ending.size() > W) ending.resize(W);
  ending.insert(ending.end(), continuing.begin(), continuing.end());
  return ending;
}

}  // namespace regard
