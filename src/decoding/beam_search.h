// Beam search: at each step, the W most probable continuations of a sentence's W hypotheses are
// kept.
//
// A continuation with </s> among the best W finishes its hypothesis, and the next best takes its
// place. A sentence leaves the batch when its stopping criterion (beam.h) or the maximum length is
// reached. Finished hypotheses are ranked by their scores (hypothesis.h).
#pragma once

#include <vector>

#include "decoding/search.h"

namespace regard {

// Same contract as search() in search.h.
std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options,
                                                 const std::vector<SentenceOptions>& sentences);

}  // namespace regard
