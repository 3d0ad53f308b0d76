#include "decoding/demanded_phrases.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace regard {
namespace {

// Reads tokens one by one. `begun_` are the last of them that some phrase not yet met begins with.
class Reader {
 public:
  explicit Reader(const Phrases& demanded) : demanded_(demanded), met_(demanded.size(), false) {}

  void read(std::int32_t token) {
    begun_.push_back(token);
    while (!begun_.empty() && phrases_begun().empty()) begun_.erase(begun_.begin());
    for (const auto i : phrases_begun()) {
      if (demanded_[i].size() != begun_.size()) continue;
      met_[i] = true;
      begun_.clear();
      return;
    }
  }

  Progress progress() const {
    Progress progress{.met = static_cast<std::int64_t>(begun_.size())};
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (met_[i]) progress.met += static_cast<std::int64_t>(demanded_[i].size());
    }
    progress.complete = std::find(met_.begin(), met_.end(), false) == met_.end();
    for (const auto i : phrases_begun()) progress.next.push_back(demanded_[i][begun_.size()]);
    return progress;
  }

 private:
  // Those not met that begin like this: all of them where nothing is begun.
  std::vector<std::size_t> phrases_begun() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < demanded_.size(); ++i) {
      const auto& phrase = demanded_[i];
      const bool begun = begun_.size() <= phrase.size() &&
                         std::equal(begun_.begin(), begun_.end(), phrase.begin());
      if (!met_[i] && begun) found.push_back(i);
    }
    return found;
  }

  const Phrases& demanded_;
  std::vector<bool> met_;
  std::vector<std::int32_t> begun_;
};

}  // namespace

Progress progress_of(std::span<const std::int32_t> tokens, const Phrases& demanded) {
  Reader reader(demanded);
  for (const auto token : tokens) reader.read(token);
  return reader.progress();
}

std::vector<std::vector<std::int32_t>> demanded_next(const std::vector<History>& histories) {
  std::vector<std::vector<std::int32_t>> next;
  bool any = false;
  for (const auto& history : histories) {
    next.emplace_back();
    if (history.sentence == nullptr || history.sentence->demanded.empty()) continue;
    next.back() = progress_of(history.tokens, history.sentence->demanded).next;
    any = true;
  }
  return any ? next : std::vector<std::vector<std::int32_t>>();
}

std::vector<Candidate> allocate(const std::vector<Candidate>& candidates,
                                const std::vector<std::vector<std::int32_t>>& histories,
                                const Phrases& demanded, std::size_t W, std::int64_t end_token) {
  std::map<std::int64_t, std::vector<Candidate>, std::greater<>> banks;  // each best first
  for (const auto& candidate : candidates) {
    if (!std::isfinite(candidate.log_probability)) continue;
    auto tokens = histories[static_cast<std::size_t>(candidate.parent)];
    if (candidate.token != end_token) tokens.push_back(static_cast<std::int32_t>(candidate.token));
    banks[progress_of(tokens, demanded).met].push_back(candidate);
  }
  std::vector<Candidate> ending;
  std::vector<Candidate> going_on;
  for (std::size_t round = 0; going_on.size() < W; ++round) {
    bool any = false;
    for (const auto& [met, bank] : banks) {
      if (round >= bank.size() || going_on.size() >= W) continue;
      any = true;
      (bank[round].token == end_token ? ending : going_on).push_back(bank[round]);
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
