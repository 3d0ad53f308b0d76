// Beam search: at each step the W most probable continuations of a sentence's W hypotheses go on.
//
// A continuation by </s> among the best W leaves the beam as finished and frees its place for the
// next best. A sentence ends as beam.h says or when its length limit is reached, and then leaves
// the batch. Finished hypotheses are ranked by their scores (score.h).
#pragma once

#include <vector>

#include "decoding/search.h"

namespace regard {

// As search() in search.h.
std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options,
                                                 const std::vector<SentenceOptions>& sentences);

}  // namespace regard
