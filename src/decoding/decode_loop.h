// Greedy search, and the decoding loop that greedy search and sampling share. The hypotheses are
// independent of each other and grow by one token per step.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "decoding/logits_processor.h"
#include "decoding/search.h"

namespace regard {

// Selects the next token of each of the N unfinished hypotheses from their logits. hypotheses[n]
// is the index of hypothesis n in the result of decode_loop(); histories[n] has its tokens. Returns
// one token per hypothesis [N, 1], with log-probability −∞ if no token is allowed.
using TokenSelector =
    std::function<NextTokens(const NextLogits& logits, const std::vector<std::int64_t>& hypotheses,
                             const std::vector<History>& histories)>;

// Returns one hypothesis for each row of `encoded`, in the same order. `lengths`, the
// numbers of encoder states, and `sentences` have one entry per row.
std::vector<Hypothesis> decode_loop(Seq2Seq& model, EncoderOutput encoded,
                                    const std::vector<std::int64_t>& lengths,
                                    const SearchOptions& options,
                                    const std::vector<SentenceOptions>& sentences,
                                    const TokenSelector& select);

// Greedy search: y_t = argmax_y P(y | y_<t, x). Called by search() in search.h, whose contract it
// shares, except that `sentences` must have one entry per source and options.beam_size is ignored.
std::vector<std::vector<Hypothesis>> greedy_search(Seq2Seq& model, const torch::Tensor& source,
                                                   const torch::Tensor& lengths,
                                                   const SearchOptions& options,
                                                   const std::vector<SentenceOptions>& sentences);

}  // namespace regard
