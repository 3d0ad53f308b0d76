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
// (Hamming diversity). A hypothesis that ends at this step does not continue, so </s> has no
// penalty, and hypotheses that ended before do not count. Log-probabilities and scores remain those
// of the model. One group is plain beam search.
#pragma once

#include <memory>

#include "decoding/search_loop.h"

namespace regard {

// Returns a beam search. The parameters must outlive it.
std::unique_ptr<SearchLoop> beam_search(Seq2Seq& model, const SearchRequest& options,
                                        SearchGraphs* graphs);

}  // namespace regard
