#include "decoding/candidates.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "decoding/lexical_constraints.h"
#include "kernels/functions.h"

namespace regard {
namespace {

// Sorts by log-probability minus penalty, highest first; stable.
void sort(std::vector<Candidate>& candidates, const Penalties& penalties) {
  if (penalties.empty()) {
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return a.log_probability > b.log_probability;
    });
    return;
  }
  const auto penalised = [&](const Candidate& candidate) {
    const auto penalty = penalties.find(candidate.token);
    return candidate.log_probability - (penalty == penalties.end() ? 0 : penalty->second);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const auto& a, const auto& b) { return penalised(a) > penalised(b); });
}

}  // namespace

std::vector<Candidate> Candidates::best(std::size_t index, const Beam& beam,
                                        const Penalties& penalties) const {
  const auto k = static_cast<std::size_t>(next_.tokens.size(1));
  const auto* tokens = next_.tokens.data_ptr<std::int64_t>();
  const auto* log_p = next_.log_p.data_ptr<double>();
  std::vector<Candidate> candidates;
  for (std::size_t parent = 0; parent < W_; ++parent) {
    const auto row = index * W_ + parent;
    for (std::size_t i = row * k; i < (row + 1) * k; ++i) {
      const auto total = log_p_[row] + log_p[i];
      candidates.push_back({static_cast<std::int64_t>(parent),
                            tokens[i],
                            std::isnan(total) ? minus_infinity : total,
                            {}});
    }
  }
  sort(candidates, penalties);
  if (beam.sentence().required_phrases.empty()) {
    candidates.resize(std::min(candidates.size(), 2 * W_));
  } else {
    std::vector<std::vector<std::int32_t>> histories;
    for (std::size_t parent = 0; parent < W_; ++parent) {
      histories.push_back(beam.history(parent));
    }
    candidates = allocate_beam(candidates, histories, beam.sentence().required_phrases, options_);
  }
  if (weights_) {
    for (auto& candidate : candidates) {
      const auto row = index * W_ + static_cast<std::size_t>(candidate.parent);
      candidate.weights = weights_.row(row, beam.source_length());
    }
  }
  return candidates;
}

}  // namespace regard
