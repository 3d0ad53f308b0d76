// Minimum Bayes risk decoding (Kumar and Byrne 2004; of samples, Eikema and Aziz 2020): chooses
//
//   argmax_h U(h)      U(h) = Σ_r P̂(r) metric(h, r)
//
// where h and r run over the candidates of a sentence. The metric is sentence chrF2, or sentence
// BLEU with the 13a tokenizer and exponential smoothing, as in `regard evaluate --sentence-level`.
// P̂ depends on the candidates:
//
//   samples  P̂(r) = 1 / N for each of the N samples: a text drawn k times has the weight k / N
//   a beam   P̂(r) = exp(score(r)) / Σ_r' exp(score(r')) over the hypotheses of the beam
//
// score is the length-normalised score that ranks the beam (decoding/hypothesis.h). With log P
// itself, which falls with each token, a long translation would count less only because it is long.
// With search.beam_alpha 0 both are the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/search_options.h"
#include "decoding/hypothesis.h"

namespace regard {

// Returns Σ_r weights[r] metric(h, r) of each text h, from 0 to 100 if the weights sum to 1.
// `weights` has one element for each text. `metric` must not be none. Thread-safe.
std::vector<double> expected_utilities(const std::vector<std::string>& texts,
                                       std::span<const double> weights, MbrMetric metric);

// Sorts the hypotheses of a sentence by decreasing expected utility, which it stores in them. Of
// hypotheses with the same text, only the first remains, with the weight of all. Equal utilities
// keep their order. texts[i] is the text of hypotheses[i]. options.mbr must not be none.
void rank_by_expected_utility(std::vector<Hypothesis>& hypotheses,
                              const std::vector<std::string>& texts, const SearchOptions& options);

}  // namespace regard
