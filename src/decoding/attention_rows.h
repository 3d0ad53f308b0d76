// The attention weights of one step, brought to the CPU to be kept with hypotheses.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace regard {

class AttentionRows {
 public:
  // weights [N, S], or undefined where there are none or none are wanted.
  explicit AttentionRows(const torch::Tensor& weights)
      : weights_(weights.defined() ? weights.to(torch::kCPU, torch::kFloat).contiguous()
                                   : weights) {}

  explicit operator bool() const { return weights_.defined(); }

  // The weights of one row over the first `length` positions.
  std::vector<float> row(std::size_t row, std::int64_t length) const {
    const auto* first =
        weights_.data_ptr<float>() + static_cast<std::int64_t>(row) * weights_.size(1);
    return {first, first + length};
  }

 private:
  torch::Tensor weights_;
};

}  // namespace regard
