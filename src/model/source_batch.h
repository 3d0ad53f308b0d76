// The source side of a batch, as the input of Seq2Seq::encode().
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

namespace regard {

// Text.
struct SourceIds {
  torch::Tensor ids;  // [B, S] int64: token ids x_1 … x_n </s>, then <pad>
};

// Text of which tokens can be copied (output/copy_output.h).
struct CopyIds {
  torch::Tensor ids;           // as SourceIds
  torch::Tensor extended_ids;  // [B, S] int64: the target id of each token, or its extended id
};

// Tokens, frames of features or rows of pixels that are vectors of F numbers.
struct SourceVectors {
  torch::Tensor values;  // [B, S, F + 1] float: the last column is 1 at </s>; 0 at padding
};

struct SourceBatch {
  using Values = std::variant<SourceIds, CopyIds, SourceVectors>;

  SourceBatch() = default;
  SourceBatch(Values x, torch::Tensor lengths_of_x)
      : values(std::move(x)), lengths(std::move(lengths_of_x)) {}
  // Text: ids [B, S].
  SourceBatch(torch::Tensor ids, torch::Tensor lengths_of_ids)
      : SourceBatch(SourceIds{std::move(ids)}, std::move(lengths_of_ids)) {}

  // Returns the ids [B, S] or the vectors [B, S, F + 1].
  const torch::Tensor& elements() const;
  std::int64_t size() const { return elements().size(0); }       // B
  std::int64_t positions() const { return elements().size(1); }  // S
  torch::Device device() const { return elements().device(); }
  // Returns the tensors of the values, the ids before the extended ids.
  std::vector<torch::Tensor> tensors() const;
  // Returns the batch with f(x) in place of each tensor of the values, and the same lengths.
  SourceBatch map(const std::function<torch::Tensor(const torch::Tensor&)>& f) const;

  Values values;
  // [B] int64, including </s>; on the CPU, or, of a padded batch, on the device.
  torch::Tensor lengths;
};

}  // namespace regard
