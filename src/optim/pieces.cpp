#include "optim/pieces.h"

#include <torch/utils.h>

#include <algorithm>

namespace regard {
namespace {

constexpr std::int64_t piece_size = 1 << 16;

}  // namespace

Pieces::Pieces(const Tensors& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::int64_t begin = 0; begin < tensors[i].numel(); begin += piece_size) {
      pieces_.push_back({i, begin, std::min(piece_size, tensors[i].numel() - begin)});
    }
  }
}

void Pieces::for_each(Workers& workers,
                      const std::function<void(std::size_t, const Piece&)>& f) const {
  const auto n = workers.count();
  workers.run([&](std::size_t w) {
    const torch::NoGradGuard guard;
    for (std::size_t i = w * count() / n; i < (w + 1) * count() / n; ++i) f(i, pieces_[i]);
  });
}

}  // namespace regard
