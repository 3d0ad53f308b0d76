// Attention weights, for a score in one of the forms that the kernels know (attention_rows.h).
#pragma once

#include <torch/types.h>

#include "kernels/attention_rows.h"

namespace regard::kernels {

struct AttentionScore {
  ScoreForm form = ScoreForm::additive;
  torch::Tensor W = {};     // [A, D], additive: q = W s. [S, D], position: q = W s. Else q = s
  torch::Tensor v = {};     // [A], additive
  double scale = 1;         // dot, cosine
  torch::Tensor keys = {};  // [B, S, A]; position: [B, S, 0]
  // [B] int64 on the CPU: the positions of sentence b are 0 … lengths[b] − 1
  torch::Tensor lengths = {};
  // [N, 2] int64 on the CPU: query n looks at the positions from the first to before the second, at
  // least one and none beyond the end; or undefined, for all of its sentence.
  torch::Tensor windows = {};
  // C [N, S] and w [A], additive, in a search alone (is_batch_invariant in packed_weights.h): the
  // coverage that each query has of its own.
  torch::Tensor coverage = {};
  torch::Tensor w = {};

  // What the innermost loops read of it; M and mixed are left open. Contiguous tensors of type T.
  template <typename T>
  AttentionRows<T> rows() const {
    return {.form = form,
            .scale = static_cast<T>(scale),
            .B = keys.size(0),
            .S = keys.size(1),
            .A = keys.size(form == ScoreForm::position ? 1 : 2),
            .M = 0,
            .keys = keys.const_data_ptr<T>(),
            .v = v.defined() ? v.const_data_ptr<T>() : nullptr,
            .mixed = nullptr,
            .lengths = lengths.const_data_ptr<std::int64_t>(),
            .windows = windows.defined() ? windows.const_data_ptr<std::int64_t>() : nullptr,
            .coverage = coverage.defined() ? coverage.const_data_ptr<T>() : nullptr,
            .w = w.defined() ? w.const_data_ptr<T>() : nullptr};
  }
};

// States s [N, D] -> α [N, S], exactly 0 beyond each sentence's end and outside of windows. N = G ·
// B: G queries in a row for each sentence. On the CPU in single or double precision, else the
// composite. The gradient cannot itself be differentiated.
torch::Tensor attention_weights(const AttentionScore& score, const torch::Tensor& states);

// The same from LibTorch's operations, differentiable, on any device.
torch::Tensor attention_weights_composite(const AttentionScore& score, const torch::Tensor& states);

// The scores before the softmax: s [B, G, D] -> e [B, G, S], with whatever comes out beyond the
// ends.
torch::Tensor attention_scores(const AttentionScore& score, const torch::Tensor& states);
// Scores e [B, G, S], the positions of each sentence [B] -> α, exactly 0 beyond the ends; with
// windows [B · G, 2], as above, outside of these.
torch::Tensor masked_softmax(const torch::Tensor& scores, const torch::Tensor& lengths,
                             const torch::Tensor& windows = {});

// Mixtures: weights [N, S], N = G · B, exactly 0 beyond the ends, values [B, S, M], lengths as
// above
// -> Σ_s α_s value_s [N, M]. The gradient of values is a late one (late_gradients.h).
torch::Tensor mix(const torch::Tensor& weights, const torch::Tensor& values,
                  const torch::Tensor& lengths);

// The mean over each sentence's positions: values [B, S, M], mask [B, S] bool -> [B, M].
torch::Tensor masked_mean(const torch::Tensor& values, const torch::Tensor& mask);

}  // namespace regard::kernels
