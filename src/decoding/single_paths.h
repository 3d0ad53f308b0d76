// Hypotheses that each go their own way, a token a step, whatever the others do: what greedy search
// and sampling share.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "decoding/next_tokens.h"
#include "decoding/search.h"

namespace regard {

// Which token each of N rows takes: logits [N, V]; paths: whose the rows are; histories as for
// TokenChooser. One token a row, without probability where none may follow.
using PickTokens =
    std::function<NextTokens(const torch::Tensor& logits, const std::vector<std::int64_t>& paths,
                             const std::vector<History>& histories)>;

// One hypothesis for each sentence of the memory, in its order. lengths: the sources'.
std::vector<Hypothesis> single_paths(Seq2Seq& model, Memory memory,
                                     const std::vector<std::int64_t>& lengths,
                                     const SearchOptions& options,
                                     const std::vector<SentenceOptions>& sentences,
                                     const PickTokens& pick);

}  // namespace regard
