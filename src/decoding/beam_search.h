// Beam search: at each step, keeps the W most probable continuations of the W hypotheses of a
// sentence.
//
// A continuation with </s> among the best W finishes its hypothesis, and the next best continuation
// takes its place. A sentence leaves the batch when it meets its stopping criterion (beam.h) or
// reaches the maximum length. Finished hypotheses are ranked by their scores (hypothesis.h).
//
// Diverse beam search (Vijayakumar et al. 2016): the W hypotheses of a sentence are divided into G
// groups, each a beam search with W / G hypotheses. At each step the groups select tokens in turn,
// and group g ranks its candidates by
//
//   log P(y_1 … y_t) − λ Σ_{h < g} |{hypotheses of group h that continue with y_t at this step}|
//
// (Hamming diversity). Log-probabilities and scores remain those of the model. One group is plain
// beam search.
#pragma once

#include <vector>

#include "decoding/search.h"

namespace regard {

// Called by search() in search.h, whose contract it shares, except that `sentences` must have one
// entry per source. The caller disables gradients and holds a kernels::WithPackedWeights.
std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options,
                                                 const std::vector<SentenceOptions>& sentences);

}  // namespace regard
