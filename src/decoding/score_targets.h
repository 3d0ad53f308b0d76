// Forced decoding: computes the probability and the attention of given targets. Uses only the
// Seq2Seq interface of a model.
#pragma once

#include <torch/types.h>

#include <vector>

#include "decoding/search.h"

namespace regard {

// The targets of a batch of sources, and which source each belongs to.
struct GivenTargets {
  torch::Tensor tokens;     // [N, T + 1] int64: <s> y_1 … y_m </s>, then <pad>
  torch::Tensor rows = {};  // [N] int64, the source of each target; undefined: N = B, in order
};

// Returns each target as a finished hypothesis with log P and, if requested, α_t of its tokens and
// </s>. The score is the log-probability. The model must be in evaluation mode. Computes all steps
// at once, with the bits of a search step by step, so that the results do not depend on the batch.
// Packed weights of the model are stored in `packed`, which can be reused until the weights change.
std::vector<Hypothesis> score_targets(Seq2Seq& model, const SourceBatch& source,
                                      const GivenTargets& targets, bool want_weights,
                                      kernels::PackedWeights& packed);
// Same, with packed weights for this call only.
std::vector<Hypothesis> score_targets(Seq2Seq& model, const SourceBatch& source,
                                      const GivenTargets& targets, bool want_weights);

// Returns log P [B, T] double of the tokens [B, T] at the masked positions [B, T] of each sentence,
// 0 at padding, for a masked language model in evaluation mode. The results do not depend on the
// batch.
torch::Tensor score_masked_tokens(Seq2Seq& model, const SourceBatch& source,
                                  const torch::Tensor& positions, const torch::Tensor& tokens,
                                  kernels::PackedWeights& packed);

}  // namespace regard
