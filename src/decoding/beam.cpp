#include "decoding/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "decoding/demanded_phrases.h"
#include "decoding/score.h"

namespace regard {

Beam::Beam(std::int64_t source_length, const SearchOptions& options,
           const SentenceOptions& sentence)
    : options_(&options),
      sentence_(&sentence),
      source_length_(source_length),
      length_limit_(output_limit(source_length, options, sentence)),
      open_(1) {}

std::int64_t Beam::add_link(const Candidate& candidate) {
  const auto previous = open_[static_cast<std::size_t>(candidate.parent)].link;
  links_.push_back({candidate.token, previous, candidate.log_probability, candidate.weights});
  return static_cast<std::int64_t>(links_.size()) - 1;
}

Hypothesis Beam::trace(const Open& last, bool finished) const {
  Hypothesis hypothesis;
  for (auto at = last.link; at >= 0; at = links_[at].previous) {
    if (links_[at].token != eos_id) {
      hypothesis.tokens.push_back(static_cast<std::int32_t>(links_[at].token));
    }
    const auto before = links_[at].previous;
    hypothesis.token_log_p.push_back(links_[at].log_probability -
                                     (before < 0 ? 0 : links_[before].log_probability));
    if (!links_[at].weights.empty()) hypothesis.weights.push_back(links_[at].weights);
  }
  std::reverse(hypothesis.tokens.begin(), hypothesis.tokens.end());
  std::reverse(hypothesis.token_log_p.begin(), hypothesis.token_log_p.end());
  std::reverse(hypothesis.weights.begin(), hypothesis.weights.end());
  hypothesis.log_probability = last.log_probability;
  hypothesis.finished = finished;
  hypothesis.score = score_of(hypothesis, *options_);
  return hypothesis;
}

std::vector<std::int32_t> Beam::history(std::size_t k) const {
  std::vector<std::int32_t> tokens;
  for (auto at = k < open_.size() ? open_[k].link : -1; at >= 0; at = links_[at].previous) {
    tokens.push_back(static_cast<std::int32_t>(links_[at].token));
  }
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

std::vector<Candidate> Beam::advance(const std::vector<Candidate>& candidates) {
  const auto W = static_cast<std::size_t>(options_->beam_size);
  const bool until_full = options_->early_stopping == SearchEnd::full;
  std::vector<Candidate> going_on;
  std::vector<Open> open;
  for (std::size_t rank = 0; rank < candidates.size() && going_on.size() < W; ++rank) {
    const auto& candidate = candidates[rank];
    if (!std::isfinite(candidate.log_probability)) continue;
    if (candidate.token != eos_id) {
      open.push_back({add_link(candidate), candidate.log_probability});
      going_on.push_back(candidate);
    } else if (rank < W && (!until_full || finished_.size() < W)) {
      finished_.push_back(trace({add_link(candidate), candidate.log_probability}, true));
    }
  }
  if (going_on.empty() && finished_.empty()) {  // nothing may come next
    cut_off();
    return {};
  }
  open_ = std::move(open);
  ++length_;
  if (open_.empty() || is_decided()) return {};
  if (length_ < length_limit_) return going_on;
  if (finished_.empty()) cut_off();
  return {};
}

// Better than nothing: those that have met most of what is demanded.
void Beam::cut_off() {
  std::int64_t most = 0;
  for (const auto& open : open_) {
    auto hypothesis = trace(open, false);
    const auto met =
        progress_of(hypothesis.tokens, sentence_->demanded, options_->inside_words).met;
    if (met > most) finished_.clear();
    most = std::max(most, met);
    if (met == most) finished_.push_back(std::move(hypothesis));
  }
}

bool Beam::is_decided() const {
  const auto wanted = static_cast<std::size_t>(
      options_->early_stopping == SearchEnd::full ? options_->beam_size : options_->n_best);
  if (options_->early_stopping == SearchEnd::never || finished_.size() < wanted) return false;
  if (options_->early_stopping == SearchEnd::full) return true;
  double best_open = open_[0].log_probability;
  for (const auto& open : open_) best_open = std::max(best_open, open.log_probability);
  std::vector<double> scores;
  for (const auto& hypothesis : finished_) scores.push_back(hypothesis.score);
  const auto last_wanted = scores.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
  std::nth_element(scores.begin(), last_wanted, scores.end(), std::greater<>());
  return *last_wanted >= best_possible_score(best_open, length_limit_, *options_);
}

std::vector<Hypothesis> Beam::n_best() const {
  auto best = finished_;
  std::stable_sort(best.begin(), best.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  const auto W = static_cast<std::size_t>(options_->beam_size);
  if (best.size() > W) best.resize(W);
  if (options_->want_weights) return best;
  for (auto& hypothesis : best) hypothesis.weights.clear();
  return best;
}

SearchTree Beam::tree(std::size_t group) const {
  SearchTree tree;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto& link = links_[i];
    tree.nodes.push_back({link.token, link.previous, link.log_probability, group, {}});
    if (link.token != eos_id) continue;
    tree.nodes.back().score =
        trace({static_cast<std::int64_t>(i), link.log_probability}, true).score;
  }
  return tree;
}

}  // namespace regard
