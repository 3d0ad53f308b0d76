// Greedy search and sampling. The hypotheses are independent of each other and grow by one token
// per step.
//
// Greedy search: y_t = argmax_y P(y | y_<t, x), one hypothesis per sentence. Sampling: see
// sampling.h.
#pragma once

#include <memory>

#include "decoding/search_loop.h"

namespace regard {

// Returns a search with options.samples samples per sentence, in the order of sampling, or greedy
// search if there are none; options.beam_size is ignored. The parameters must outlive it.
std::unique_ptr<SearchLoop> decode_loop(Seq2Seq& model, const SearchRequest& options,
                                        SearchGraphs* graphs);

}  // namespace regard
