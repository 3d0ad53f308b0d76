// Greedy search: y_t = argmax_y P(y | y_<t, x), one hypothesis a sentence.
#pragma once

#include <vector>

#include "decoding/search.h"

namespace regard {

// As search() in search.h, whatever options.beam_size says.
std::vector<std::vector<Hypothesis>> greedy_search(Seq2Seq& model, const torch::Tensor& source,
                                                   const torch::Tensor& lengths,
                                                   const SearchOptions& options,
                                                   const std::vector<SentenceOptions>& sentences);

}  // namespace regard
