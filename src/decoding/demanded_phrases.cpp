#include "decoding/demanded_phrases.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace regard {
namespace {

bool goes_on(const std::vector<bool>& inside_words, std::int32_t token) {
  return static_cast<std::size_t>(token) < inside_words.size() &&
         inside_words[static_cast<std::size_t>(token)];
}

// How often a phrase is met, each time by tokens of its own, and where the last time ends.
struct Met {
  std::int64_t times = 0;
  std::size_t end = 0;
  bool at_end = false;  // the last time ends where the tokens do: a piece could go on with its word
};

Met met(std::span<const std::int32_t> tokens, const std::vector<std::int32_t>& phrase,
        const std::vector<bool>& inside_words) {
  Met met;
  const auto n = phrase.size();
  for (std::size_t begin = 0; begin + n <= tokens.size();) {
    const auto end = begin + n;
    const bool there = std::equal(phrase.begin(), phrase.end(), tokens.begin() + begin) &&
                       (end == tokens.size() || !goes_on(inside_words, tokens[end]));
    if (there) met = {met.times + 1, end, end == tokens.size()};
    begin = there ? end : begin + 1;
  }
  return met;
}

// How many tokens of the phrase, short of all, the tokens end in.
std::size_t begun(std::span<const std::int32_t> tokens, const std::vector<std::int32_t>& phrase) {
  for (auto n = std::min(tokens.size(), phrase.size() - 1); n > 0; --n) {
    if (std::equal(phrase.begin(), phrase.begin() + static_cast<std::ptrdiff_t>(n),
                   tokens.end() - static_cast<std::ptrdiff_t>(n))) {
      return n;
    }
  }
  return 0;
}

}  // namespace

Progress progress_of(std::span<const std::int32_t> tokens, const Phrases& demanded,
                     const std::vector<bool>& inside_words) {
  Progress progress;
  std::int64_t surely = 0;         // tokens met, whatever comes next
  std::int64_t at_end = 0;         // tokens met, unless a piece goes on with the last word
  std::int64_t begun_inside = 0;   // tokens of a phrase that asks for such a piece
  std::int64_t begun_outside = 0;  // tokens of one that does not
  for (auto phrase = demanded.begin(); phrase != demanded.end(); ++phrase) {
    if (std::find(demanded.begin(), phrase, *phrase) != phrase) continue;  // with the first like it
    const auto wanted = std::count(demanded.begin(), demanded.end(), *phrase);
    const auto size = static_cast<std::int64_t>(phrase->size());
    const auto found = met(tokens, *phrase, inside_words);
    const bool last_at_end = found.at_end && found.times <= wanted;
    surely += size * (std::min<std::int64_t>(found.times, wanted) - (last_at_end ? 1 : 0));
    at_end += last_at_end ? size : 0;
    if (found.times >= wanted) continue;
    progress.complete = false;
    const auto length = begun(tokens.subspan(found.end), *phrase);
    const auto next = (*phrase)[length];
    progress.next.push_back(next);
    if (length > 0) progress.next.push_back(phrase->front());
    auto& most = goes_on(inside_words, next) ? begun_inside : begun_outside;
    most = std::max(most, static_cast<std::int64_t>(length));
  }
  progress.met = surely + std::max(at_end + begun_outside, begun_inside);
  return progress;
}

std::vector<std::vector<std::int32_t>> demanded_next(const std::vector<History>& histories,
                                                     const std::vector<bool>& inside_words) {
  std::vector<std::vector<std::int32_t>> next;
  bool any = false;
  for (const auto& history : histories) {
    next.emplace_back();
    if (history.sentence == nullptr || history.sentence->demanded.empty()) continue;
    next.back() = progress_of(history.tokens, history.sentence->demanded, inside_words).next;
    any = true;
  }
  return any ? next : std::vector<std::vector<std::int32_t>>();
}

std::vector<Candidate> allocate(const std::vector<Candidate>& candidates,
                                const std::vector<std::vector<std::int32_t>>& histories,
                                const Phrases& demanded, const SearchOptions& options) {
  const auto W = static_cast<std::size_t>(options.beam_size);
  std::map<std::int64_t, std::vector<Candidate>, std::greater<>> banks;  // each best first
  std::vector<std::int32_t> tokens;
  for (const auto& candidate : candidates) {
    if (!std::isfinite(candidate.log_probability)) continue;
    tokens = histories[static_cast<std::size_t>(candidate.parent)];
    if (candidate.token != eos_id) {
      tokens.push_back(static_cast<std::int32_t>(candidate.token));
    }
    banks[progress_of(tokens, demanded, options.inside_words).met].push_back(candidate);
  }
  std::vector<Candidate> ending;
  std::vector<Candidate> going_on;
  for (std::size_t round = 0; going_on.size() < W; ++round) {
    bool any = false;
    for (const auto& [met, bank] : banks) {
      if (round >= bank.size() || going_on.size() >= W) continue;
      any = true;
      (bank[round].token == eos_id ? ending : going_on).push_back(bank[round]);
    }
    if (!any) break;
  }
  std::stable_sort(going_on.begin(), going_on.end(), [](const auto& a, const auto& b) {
    return a.log_probability > b.log_probability;
  });
  if (ending.size() > W) ending.resize(W);
  ending.insert(ending.end(), going_on.begin(), going_on.end());
  return ending;
}

}  // namespace regard
