#include "decoding/lexical_constraints.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace regard {

ConstraintProgress constraint_progress(std::span<const std::int32_t> tokens,
                                       const Phrases& required_phrases,
                                       const WordBoundaries& words) {
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
    const auto size = phrase->length();
    const auto found = phrase->match(tokens, words);
    const bool last_at_end = found.at_end && found.count <= required;
    certain += size * (std::min<std::int64_t>(found.count, required) - (last_at_end ? 1 : 0));
    at_end += last_at_end ? size : 0;
    if (found.count >= required) continue;
    progress.complete = false;
    for (const auto token : phrase->beginning(tokens, words)) progress.next.push_back(token);
    if (found.begun == 0) continue;
    const auto& begun = phrase->states()[found.begun];
    for (const auto token : begun.proposed) {
      progress.next.push_back(token);
      const bool continues = words.continues(tokens.back(), token);
      auto& longest = continues ? started_continuation : started_word;
      longest = std::max(longest, size - begun.remaining);
    }
  }
  progress.met = certain + std::max(at_end + started_word, started_continuation);
  return progress;
}

bool has_phrases(std::span<const std::int32_t> tokens, const Phrases& required_phrases,
                 const WordBoundaries& words) {
  return constraint_progress(tokens, required_phrases, words).complete;
}

std::vector<std::vector<std::int32_t>> next_required_tokens(const std::vector<History>& histories,
                                                            const WordBoundaries& words) {
  std::vector<std::vector<std::int32_t>> next;
  bool any = false;
  for (const auto& history : histories) {
    next.emplace_back();
    if (history.sentence == nullptr || history.sentence->required_phrases.empty()) continue;
    next.back() =
        constraint_progress(history.tokens, history.sentence->required_phrases, words).next;
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
    banks[constraint_progress(tokens, required_phrases, options.words).met].push_back(candidate);
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
