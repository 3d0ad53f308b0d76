// Sentences as tensors. Within a batch they stand in the order of falling source length, equals in
// the order given; `indices` says which is which.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizers.h"

namespace regard {

class Corpus;

// A pair of token sequences without <s> and </s>, and the number it has in its corpus; `numbers`
// and `copies` as in SourceLine.
struct Example {
  std::int64_t index = 0;
  std::vector<std::int32_t> source;
  std::vector<std::int32_t> target;
  std::vector<float> numbers = {};
  std::vector<std::int32_t> copies = {};
};

struct Batch {
  // [B, S] int64: x_1 … x_n </s>, then <pad>. Where words can be copied [B, S, 2], with the
  // target's ids of the same words; where they are vectors of F numbers [B, S, F + 1], the last 1
  // at </s>.
  torch::Tensor source;
  torch::Tensor source_lengths;  // [B] int64, with </s>, never rising; stays on the CPU
  torch::Tensor target;          // [B, T + 1] int64: <s> y_1 … y_m </s>, then <pad>; or undefined
  std::int64_t source_tokens = 0;  // without padding, with </s>
  std::int64_t target_tokens = 0;  // without padding, with </s>, without <s>
  std::vector<std::int64_t> indices;

  std::int64_t size() const { return source.size(0); }
  // What the decoder is fed, and what it is to say: both are views of `target`.
  torch::Tensor target_input() const { return target.slice(1, 0, -1); }  // [B, T]
  torch::Tensor target_output() const { return target.slice(1, 1); }     // [B, T]

  Batch to(torch::Device device) const;
  // The sentences w, w + n, w + 2n, …, padded no further than they need; w is below n and size().
  Batch share(std::int64_t w, std::int64_t n) const;
};

Batch make_batch(std::span<const Example> examples);
Batch make_batch(const Corpus& corpus, std::span<const std::int64_t> pairs);
// For translation: there is no target, and the indices are those of `sources`.
Batch make_source_batch(std::span<const SourceLine> sources);

}  // namespace regard
