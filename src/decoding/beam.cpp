#include "decoding/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "decoding/hypothesis.h"
#include "decoding/lexical_constraints.h"

namespace regard {

Beam::Beam(std::int64_t source_length, const SearchRequest& options,
           const SentenceOptions& sentence)
    : options_(&options),
      sentence_(&sentence),
      source_length_(source_length),
      max_length_(output_limit(source_length, options, sentence)),
      open_(1) {}

std::int64_t Beam::add_node(const Candidate& candidate) {
  const auto previous = open_[static_cast<std::size_t>(candidate.parent)].node;
  nodes_.push_back({candidate.token, previous, candidate.log_probability, candidate.weights});
  return static_cast<std::int64_t>(nodes_.size()) - 1;
}

Hypothesis Beam::backtrack(const OpenHypothesis& last, bool finished) const {
  Hypothesis hypothesis;
  for (auto at = last.node; at >= 0; at = nodes_[at].previous) {
    if (nodes_[at].token != eos_id) {
      hypothesis.tokens.push_back(static_cast<std::int32_t>(nodes_[at].token));
    }
    const auto previous = nodes_[at].previous;
    hypothesis.token_log_p.push_back(nodes_[at].log_probability -
                                     (previous < 0 ? 0 : nodes_[previous].log_probability));
    if (!nodes_[at].weights.empty()) hypothesis.weights.push_back(nodes_[at].weights);
  }
  std::reverse(hypothesis.tokens.begin(), hypothesis.tokens.end());
  std::reverse(hypothesis.token_log_p.begin(), hypothesis.token_log_p.end());
  std::reverse(hypothesis.weights.begin(), hypothesis.weights.end());
  hypothesis.log_probability = last.log_probability;
  hypothesis.finished = finished;
  hypothesis.score = score_hypothesis(hypothesis, *options_);
  return hypothesis;
}

std::vector<std::int32_t> Beam::history(std::size_t k) const {
  std::vector<std::int32_t> tokens;
  for (auto at = k < open_.size() ? open_[k].node : -1; at >= 0; at = nodes_[at].previous) {
    tokens.push_back(static_cast<std::int32_t>(nodes_[at].token));
  }
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

std::vector<Candidate> Beam::advance(const std::vector<Candidate>& candidates) {
  const auto W = static_cast<std::size_t>(options_->beam_size);
  const bool until_full = options_->early_stopping == SearchEnd::full;
  std::vector<Candidate> continuing;
  std::vector<OpenHypothesis> open;
  for (std::size_t rank = 0; rank < candidates.size() && continuing.size() < W; ++rank) {
    const auto& candidate = candidates[rank];
    if (!std::isfinite(candidate.log_probability)) continue;
    if (candidate.token != eos_id) {
      open.push_back({add_node(candidate), candidate.log_probability});
      continuing.push_back(candidate);
    } else if (rank < W && (!until_full || finished_.size() < W)) {  // among the W best
      finished_.push_back(backtrack({add_node(candidate), candidate.log_probability}, true));
    }
  }
  if (continuing.empty() && finished_.empty()) {  // no token is allowed
    finish_open_hypotheses();
    return {};
  }
  open_ = std::move(open);
  ++length_;
  if (open_.empty() || can_stop()) return {};
  if (length_ < max_length_) return continuing;
  if (finished_.empty()) finish_open_hypotheses();
  return {};
}

void Beam::finish_open_hypotheses() {
  std::int64_t max_met = 0;
  for (const auto& open : open_) {
    auto hypothesis = backtrack(open, false);
    const auto met =
        constraint_progress(hypothesis.tokens, sentence_->required_phrases, options_->words).met;
    if (met > max_met) finished_.clear();
    max_met = std::max(max_met, met);
    if (met == max_met) finished_.push_back(std::move(hypothesis));
  }
}

bool Beam::can_stop() const {
  const auto end = options_->early_stopping;
  if (end == SearchEnd::never) return false;
  if (end == SearchEnd::exact) {
    return none_is_better(static_cast<std::size_t>(options_->n_best), max_length_);
  }
  if (finished_.size() < static_cast<std::size_t>(options_->beam_size)) return false;
  return end == SearchEnd::full || none_is_better(1, length_);
}

bool Beam::none_is_better(std::size_t n, std::int64_t length) const {
  if (finished_.size() < n) return false;
  double best_open = open_[0].log_probability;
  for (const auto& open : open_) best_open = std::max(best_open, open.log_probability);
  std::vector<double> scores;
  for (const auto& hypothesis : finished_) scores.push_back(hypothesis.score);
  const auto nth_best = scores.begin() + static_cast<std::ptrdiff_t>(n) - 1;
  std::nth_element(scores.begin(), nth_best, scores.end(), std::greater<>());
  return *nth_best >= best_possible_score(best_open, length, *options_);
}

std::vector<Hypothesis> Beam::hypotheses() const {
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
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto& node = nodes_[i];
    tree.nodes.push_back({node.token, node.previous, node.log_probability, group, {}});
    if (node.token != eos_id) continue;
    tree.nodes.back().score =
        backtrack({static_cast<std::int64_t>(i), node.log_probability}, true).score;
  }
  return tree;
}

}  // namespace regard
