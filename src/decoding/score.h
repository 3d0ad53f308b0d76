// What hypotheses are ranked by once they have finished:
//
//   score(Y, X) = log P(Y | X) / lp(n) + β Σ_s log min(Σ_t α_ts, 1)
//
// n counts Y's tokens and its </s>; lp(n) is ((5 + n) / 6)^α, GNMT's, or n^α. The second term is
// GNMT's coverage penalty (Wu et al. 2016), s over the source's tokens and its </s>: it is 0 where
// every position was looked at once in all, and below where some were passed over.
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search.h"

namespace regard {

double length_penalty(std::int64_t n, const SearchOptions& options);

// Σ_s log min(Σ_t α_ts, 1) of weights [T][S]. A position without any weight counts as one of 1e-10.
double coverage_penalty(const std::vector<std::vector<float>>& weights);

// Of a hypothesis with all else filled in.
double score_of(const Hypothesis& hypothesis, const SearchOptions& options);

// No hypothesis of at most `longest` tokens, </s> included, that goes on from this log-probability
// has a higher score: log P only falls, lp only grows, and the coverage penalty is at most 0.
double best_possible_score(double log_probability, std::int64_t longest,
                           const SearchOptions& options);

}  // namespace regard
