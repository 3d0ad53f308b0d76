// Sentences as padded tensors. A batch is sorted by decreasing source length (stable); `indices`
// maps rows to sentences.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizers.h"

namespace regard {

class Corpus;

// A pair of token sequences without <s> and </s>, and its index in the corpus. See SourceLine for
// `numbers` and `extended_ids`.
struct Example {
  std::int64_t index = 0;
  std::vector<std::int32_t> source;
  std::vector<std::int32_t> target;
  std::vector<float> numbers = {};
  std::vector<std::int32_t> extended_ids = {};
};

struct Batch {
  // Token ids [B, S] int64: x_1 … x_n </s>, then <pad>. If words can be copied, [B, S, 2] with the
  // extended ids of the same words; if tokens are vectors of F numbers, [B, S, F + 1], where the
  // last column is 1 at </s>.
  torch::Tensor source;
  torch::Tensor source_lengths;  // [B] int64, including </s>, decreasing; always on the CPU
  torch::Tensor target;          // [B, T + 1] int64: <s> y_1 … y_m </s>, then <pad>; or undefined
  std::int64_t source_tokens = 0;  // including </s>, excluding padding
  std::int64_t target_tokens = 0;  // including </s>, excluding <s> and padding
  std::vector<std::int64_t> indices;

  std::int64_t size() const { return source.size(0); }
  // The input and the expected output of the decoder. Both are views of `target`.
  torch::Tensor target_input() const { return target.slice(1, 0, -1); }  // [B, T]
  torch::Tensor target_output() const { return target.slice(1, 1); }     // [B, T]

  Batch to(torch::Device device) const;
  // Returns the sentences w, w + n, w + 2n, … with minimal padding; w < n and w < size().
  Batch shard(std::int64_t w, std::int64_t n) const;
};

Batch make_batch(std::span<const Example> examples);
Batch make_batch(const Corpus& corpus, std::span<const std::int64_t> pairs);
// Creates a batch without targets, for translation. The indices are those of `sources`.
Batch make_source_batch(std::span<const SourceLine> sources);

}  // namespace regard
