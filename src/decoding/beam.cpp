#include "decoding/beam.h"

#include <algorithm>
#include <cmath>

namespace regard {

Beam::Beam(std::int64_t source_length, const SearchOptions& options)
    : options_(&options),
      source_length_(source_length),
      length_limit_(output_limit(source_length, options)),
      alive_(options.beam_size, -1) {}

std::int64_t Beam::add_link(const Candidate& candidate) {
  links_.push_back({candidate.token, alive_[candidate.parent], candidate.weights});
  return static_cast<std::int64_t>(links_.size()) - 1;
}

Hypothesis Beam::trace(std::int64_t link, double log_probability, bool finished) const {
  Hypothesis hypothesis;
  for (auto at = link; at >= 0; at = links_[at].previous) {
    if (links_[at].token != options_->end_token) {
      hypothesis.tokens.push_back(static_cast<std::int32_t>(links_[at].token));
    }
    if (!links_[at].weights.empty()) hypothesis.weights.push_back(links_[at].weights);
  }
  std::reverse(hypothesis.tokens.begin(), hypothesis.tokens.end());
  std::reverse(hypothesis.weights.begin(), hypothesis.weights.end());
  hypothesis.log_probability = log_probability;
  hypothesis.finished = finished;
  const auto length = static_cast<std::int64_t>(hypothesis.tokens.size()) + finished;
  hypothesis.score = log_probability / length_penalty(length, options_->beam_alpha);
  return hypothesis;
}

std::vector<Candidate> Beam::advance(const std::vector<Candidate>& candidates) {
  const auto W = static_cast<std::size_t>(options_->beam_size);
  std::vector<Candidate> going_on;
  std::vector<std::int64_t> alive;
  for (std::size_t rank = 0; rank < candidates.size() && going_on.size() < W; ++rank) {
    const auto& candidate = candidates[rank];
    if (!std::isfinite(candidate.log_probability)) continue;
    if (candidate.token != options_->end_token) {
      alive.push_back(add_link(candidate));
      going_on.push_back(candidate);
    } else if (rank < W && finished_.size() < W) {
      finished_.push_back(trace(add_link(candidate), candidate.log_probability, true));
    }
  }
  alive_ = std::move(alive);
  ++length_;
  if (finished_.size() >= W || going_on.empty()) return {};
  if (length_ < length_limit_) return going_on;
  if (finished_.empty()) {  // cut off: better than nothing
    for (std::size_t i = 0; i < going_on.size(); ++i) {
      finished_.push_back(trace(alive_[i], going_on[i].log_probability, false));
    }
  }
  return {};
}

std::vector<Hypothesis> Beam::n_best() const {
  if (finished_.empty()) return {Hypothesis{}};  // a model whose probabilities are all NaN
  auto sorted = finished_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return sorted;
}

}  // namespace regard
