// Sentences as padded tensors. A batch is sorted by decreasing source length (stable); `indices`
// maps rows to sentences.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/text_codec.h"
#include "model/source_batch.h"

namespace regard {

class Corpus;

// A sentence pair: token ids without <s> and </s>, and the index in the corpus. See SourceLine for
// `numbers` and `extended_ids`, which include </s>, and for `frames`, which do not.
struct Example {
  std::int64_t index = 0;
  std::vector<std::int32_t> source;
  std::vector<std::int32_t> target;
  std::vector<float> numbers = {};
  std::vector<std::int32_t> extended_ids = {};
  Frames frames = {};
  // Masked language model: the positions in the source whose tokens before masking are the target.
  std::vector<std::int32_t> masked = {};
  std::int32_t first_target = bos_id;  // see TextCodec

  // Returns the number of source tokens or frames, without </s>.
  std::size_t source_length() const {
    return source.size() + static_cast<std::size_t>(frames.count());
  }
};

// Returns pair i of a corpus. Throws as Corpus::pair() does.
Example example_of(const Corpus& corpus, std::int64_t i);

struct Batch {
  SourceBatch source;  // lengths decrease
  // [B, T + 1] int64: <s> y_1 … y_m </s>, then <pad>; undefined in translation. A tag of the target
  // stands in place of <s>. For a masked language model, y_1 … y_m are the tokens at the masked
  // positions, and no </s> follows.
  torch::Tensor target;
  torch::Tensor masked = {};  // [B, T] int64 masked positions, then 0; otherwise undefined
  // [N] int64: the positions of the real tokens in target_output().flatten(). Only on other devices
  // than the CPU, which would have to be waited for to find them.
  torch::Tensor target_positions = {};
  // Only of a padded batch: the memory of all tensors above but target_positions, int64.
  torch::Tensor block = {};
  std::int64_t source_tokens = 0;  // including </s>, excluding padding
  std::int64_t target_tokens = 0;  // including </s>, excluding <s> and padding
  // The index of each sentence in the corpus or source list. A padded batch has more rows than
  // sentences.
  std::vector<std::int64_t> indices;

  std::int64_t size() const { return std::ssize(indices); }  // sentences
  // The input and the expected output of the decoder: <s> y_1 … y_m and y_1 … y_m </s>. Views of
  // `target`. The input of a masked language model are the masked positions.
  torch::Tensor target_input() const {  // [B, T]
    return masked.defined() ? masked : target.slice(1, 0, -1);
  }
  torch::Tensor target_output() const { return target.slice(1, 1); }  // [B, T]

  // Returns a copy with all tensors but the lengths on the device, or all of a padded batch. Does
  // not wait for the device.
  Batch to(torch::Device device) const;
  // True if the source is made of tokens, and the batch has targets.
  bool can_be_padded() const;
  // Returns a copy with as many more rows and positions as make B a multiple of 8, and S and T
  // multiples of 4 or, if those are above the limits of the model, equal to the limits. This
  // gives many batches the same shape. All tensors are views of `block`. The source of a row behind
  // the sentences is </s>, its target <s>: it has no target token. A model must compute the same
  // for the sentences. The batch must be on the CPU.
  Batch padded(std::int64_t max_source, std::int64_t max_target) const;
  // Returns the batch with the tensors of `memory`, as long as `block`.
  Batch with_block(const torch::Tensor& memory) const;
  // Returns the sentences w, w + n, w + 2n, … with minimal padding; w < n and w < size().
  Batch shard(std::int64_t w, std::int64_t n) const { return select(w, size(), n); }
  // Returns the sentences from `begin` to end − 1 with minimal padding; begin < end.
  Batch range(std::int64_t begin, std::int64_t end) const { return select(begin, end, 1); }

 private:
  // Returns the sentences begin, begin + step, begin + 2 step, … below `end`.
  Batch select(std::int64_t begin, std::int64_t end, std::int64_t step) const;
};

// Throw std::logic_error if there is no sentence.
Batch make_batch(std::span<const Example> examples);
// Creates the batch of a masked language model. Example::target has the tokens before masking.
Batch make_masked_batch(std::span<const Example> examples);
// `pairs` are indices in the corpus.
Batch make_batch(const Corpus& corpus, std::span<const std::int64_t> pairs);
// Creates a batch without targets, for translation. Batch::indices are positions in `sources`.
Batch make_source_batch(std::span<const SourceLine> sources);

}  // namespace regard
