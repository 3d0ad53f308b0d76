// Parameters cut into flat pieces that fit the cache: what is done element by element is done a
// piece at a time, each worker with its own run of pieces.
#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

#include "base/workers.h"

namespace regard {

using Tensors = std::vector<torch::Tensor>;

// The elements [begin, begin + size) of the tensor `index` of a list.
struct Piece {
  std::size_t index;
  std::int64_t begin;
  std::int64_t size;

  // That part of the list's contiguous tensor, as one row: [size].
  torch::Tensor of(const Tensors& tensors) const {
    return tensors[index].view(-1).narrow(0, begin, size);
  }
};

class Pieces {
 public:
  explicit Pieces(const Tensors& tensors);

  std::size_t count() const { return pieces_.size(); }
  // f(i, piece) for each piece i, with gradients off. Which worker does it never matters.
  void for_each(Workers& workers, const std::function<void(std::size_t, const Piece&)>& f) const;

 private:
  std::vector<Piece> pieces_;
};

}  // namespace regard
