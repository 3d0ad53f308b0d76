#include "kernels/convolution.h"

#include <torch/autograd.h>

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class Neighbourhoods : public torch::autograd::Function<Neighbourhoods> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    const auto [B, H, W, C] = std::tuple(x.size(0), x.size(1), x.size(2), x.size(3));
    context->set_materialize_grads(false);
    const auto padded = torch::constant_pad_nd(x, {0, 0, 1, 1, 1, 1}).contiguous();
    const auto row = (W + 2) * C;
    // The three pixels of a row of a neighbourhood are consecutive numbers.
    return padded.as_strided({B, H, W, 3, 3 * C}, {(H + 2) * row, row, C, row, 1})
        .reshape({B, H, W, 9 * C});
  }

  static tensor_list backward(AutogradContext* /*context*/, const tensor_list& gradients) {
    const auto& d_n = gradients[0];
    if (!d_n.defined()) return {Tensor()};
    const auto [B, H, W, C] = std::tuple(d_n.size(0), d_n.size(1), d_n.size(2), d_n.size(3) / 9);
    const auto parts = d_n.reshape({B, H, W, 3, 3, C});
    const auto d_padded = torch::zeros({B, H + 2, W + 2, C}, d_n.options());
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        d_padded.narrow(1, i, H).narrow(2, j, W).add_(parts.select(3, i).select(3, j));
      }
    }
    return {d_padded.narrow(1, 1, H).narrow(2, 1, W)};
  }
};

}  // namespace

torch::Tensor neighbourhoods(const torch::Tensor& x) {
  return Neighbourhoods::apply(x);
}

}  // namespace regard::kernels
