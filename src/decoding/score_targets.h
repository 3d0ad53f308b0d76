// Forced decoding: computes the probability and the attention of given targets. Uses only the
// Seq2Seq interface of a model.
#pragma once

#include <torch/types.h>

#include <vector>

#include "decoding/search.h"

namespace regard {

// Returns each target as a finished hypothesis with log P and, if requested, α_t of its tokens and
// </s>. The score is the log-probability. source [B, S], lengths [B] as for Seq2Seq::encode();
// target [B, T + 1]: <s> y_1 … y_m </s>, then <pad>. The model must be in evaluation mode. Decodes
// step by step with the kernels of a search, so that the results do not depend on the batch. Packed
// weights of the model are stored in `packed`, which can be reused until the weights change.
std::vector<Hypothesis> score_targets(Seq2Seq& model, const torch::Tensor& source,
                                      const torch::Tensor& lengths, const torch::Tensor& target,
                                      bool want_weights, kernels::PackedWeights& packed);
// Same, with packed weights for this call only.
std::vector<Hypothesis> score_targets(Seq2Seq& model, const torch::Tensor& source,
                                      const torch::Tensor& lengths, const torch::Tensor& target,
                                      bool want_weights);

}  // namespace regard
