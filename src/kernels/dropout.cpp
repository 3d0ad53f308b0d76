#include "kernels/dropout.h"

#include <torch/autograd.h>

#include "kernels/dropout_rows.h"
#include "kernels/fused.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

Tensor masked(const Tensor& x, double p, std::uint64_t key) {
  const auto y = torch::empty(x.sizes(), x.options());
  const auto from = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    dropout_rows(x.numel(), from.const_data_ptr<scalar_t>(), p, key,
                 y.mutable_data_ptr<scalar_t>());
  });
  return y;
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, double p, std::int64_t key) {
    context->saved_data["p"] = p;
    context->saved_data["key"] = key;
    return masked(x, p, static_cast<std::uint64_t>(key));
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {masked(gradients[0], context->saved_data["p"].toDouble(),
                   static_cast<std::uint64_t>(context->saved_data["key"].toInt())),
            Tensor(), Tensor()};
  }
};

}  // namespace

Tensor dropout(const Tensor& x, double p, std::uint64_t key) {
  if (!is_fused_on(x)) return torch::dropout(x, p, /*train=*/true);
  return DropoutFunction::apply(x, p, static_cast<std::int64_t>(key));
}

}  // namespace regard::kernels
