// Attention weights and mixtures. loops/attention.h has the equations of the score functions.
#pragma once

#include <torch/types.h>

#include "kernels/loops/attention.h"

namespace regard::kernels {

// The parameters of a score function.
struct AttentionScore {
  ScoreForm form = ScoreForm::additive;
  torch::Tensor W = {};     // q = W s: [A, D] additive, [S, D] position; undefined: q = s
  torch::Tensor v = {};     // [A], additive
  double scale = 1;         // dot, cosine
  torch::Tensor keys = {};  // [B, S, A]; position: [B, S, 0]
  // [B] int64: sentence b has positions 0 … lengths[b] − 1. The kernels for the CPU read it there.
  torch::Tensor lengths = {};
  // [B, 1, S] bool on the device of the keys, true at padding. Not read by the kernels for the CPU.
  // Undefined: derived from the lengths, for which other devices than the CPU must be waited for.
  torch::Tensor padding = {};
  // [N, 2] int64 on the device of the keys: first and end (exclusive) position that query n attends
  // to. A window is not empty and lies inside the sentence. Undefined: every query attends to all
  // positions.
  torch::Tensor windows = {};
  // The coverage C [N, S] of each query and its weight vector w [A], of with_coverage().
  torch::Tensor coverage = {};
  torch::Tensor coverage_weight = {};

  // Returns the pointers and sizes for loops/attention.h, but not those of the mixture: M is 0 and
  // `mixed` is null. All tensors must be contiguous. T is the type of their floating-point numbers.
  template <typename T>
  AttentionBuffers<T> buffers() const {
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
            .coverage_weight =
                coverage_weight.defined() ? coverage_weight.const_data_ptr<T>() : nullptr};
  }
};

// Returns the score of the first S positions by a matrix W [at least S, D], without keys and
// lengths: e_s = (W s)_s.
AttentionScore position_score(const torch::Tensor& W, std::int64_t S);

// Returns the score of B sentences as one of N = G · B, each repeated G times, so that each of its
// queries [N, 1, D] can have keys of its own: keys [B, S, A] -> [N, S, A].
AttentionScore repeat_for_queries(AttentionScore score, std::int64_t N);

// Returns an additive score with coverage C [N, S] of each query, and its weight vector w [A]:
// e_s = v · tanh(k_s + q + w C_s).
AttentionScore with_coverage(AttentionScore score, const torch::Tensor& coverage,
                             const torch::Tensor& w);

// Returns α [N, S] of the decoder states s [N, D], exactly 0 at padding and outside of windows.
// N = G · B, with G consecutive queries per sentence. Uses the kernels on the CPU in single or
// double precision, otherwise the reference implementation. Not twice differentiable.
torch::Tensor attention_weights(const AttentionScore& score, const torch::Tensor& states);

// Reference implementation with LibTorch's operations: differentiable, on any device.
torch::Tensor attention_weights_reference(const AttentionScore& score, const torch::Tensor& states);

// Returns the scores before the softmax: s [B, G, D] -> e [B, G, S], arbitrary at padding. Not
// twice differentiable.
torch::Tensor attention_scores(const AttentionScore& score, const torch::Tensor& states);
// Returns AttentionScore::padding, derived from the lengths if it is undefined.
torch::Tensor padding_of(const AttentionScore& score);

// Returns α [B, G, S] of the scores e [B, G, S], exactly 0 beyond lengths [B] and, with windows
// [B · G, 2], outside of the windows. Lengths, windows and padding are as in AttentionScore.
torch::Tensor masked_softmax(const torch::Tensor& scores, const torch::Tensor& lengths,
                             const torch::Tensor& windows = {}, const torch::Tensor& padding = {});

// Returns the mixtures Σ_s α_s value_s [N, M] of values [B, S, M]. The weights α [N, S], N = G · B,
// must be exactly 0 beyond lengths [B]. In a time loop (mode.h), the gradient of values is
// deferred.
torch::Tensor mix(const torch::Tensor& weights, const torch::Tensor& values,
                  const torch::Tensor& lengths);

// Returns the mean over the positions where the mask is true: values [B, S, M], mask [B, S] bool ->
// [B, M].
torch::Tensor masked_mean(const torch::Tensor& values, const torch::Tensor& mask);

}  // namespace regard::kernels
