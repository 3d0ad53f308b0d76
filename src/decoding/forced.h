// Forced decoding: a given target in place of a search's choice, for its probability and for the
// attention that goes with it. Knows the Seq2Seq interface and nothing of the model behind it.
#pragma once

#include <torch/types.h>

#include <vector>

#include "decoding/search.h"

namespace regard {

// Each target as a finished hypothesis: log P of its tokens and </s>, α_t for each of them. The
// score is the log-probability: nothing competes. source [B, S], lengths [B] as for
// Seq2Seq::encode; target [B, T + 1]: <s> y_1 … y_m </s>, then <pad>. The model must be in
// evaluation mode. It goes step by step, by the products of a search, each row of which is summed
// by itself: what a translation scores does not depend on its batch, as it would all at once. The
// model's weights are packed into `packed`, for all calls until they change.
std::vector<Hypothesis> force(Seq2Seq& model, const torch::Tensor& source,
                              const torch::Tensor& lengths, const torch::Tensor& target,
                              bool want_weights, kernels::PackedWeights& packed);
// One call by itself.
std::vector<Hypothesis> force(Seq2Seq& model, const torch::Tensor& source,
                              const torch::Tensor& lengths, const torch::Tensor& target,
                              bool want_weights);

}  // namespace regard
