#include "kernels/layer_norm.h"

#include <torch/autograd.h>

#include <optional>
#include <tuple>

#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/loops/layer_norm.h"
#include "kernels/row_operators.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Returns the sum and its norm, or the norm alone if there is no z.
class AddAndNorm : public torch::autograd::Function<AddAndNorm> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x,
                             const std::optional<Tensor>& z, const DrawnDropout& dropout,
                             const Tensor& g, const Tensor& b) {
    const auto [sum, norm, stats] =
        row_operators::add_and_norm(x, z.value_or(Tensor()), dropout, g, b);
    context->save_for_backward({sum, stats, g, dropout.key_on_device});
    context->saved_data["p"] = dropout.p;
    context->saved_data["key"] = dropout.key_as_int();
    context->saved_data["has_z"] = z.has_value();
    context->set_materialize_grads(false);
    if (z) return {sum, norm};
    return {norm};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [sum, stats, g] = std::tie(saved[0], saved[1], saved[2]);
    const KeyedDropout keyed = {
        .p = context->saved_data["p"].toDouble(),
        .key = static_cast<std::uint64_t>(context->saved_data["key"].toInt())};
    const DrawnDropout dropout(keyed, saved[3]);
    const bool has_z = context->saved_data["has_z"].toBool();
    const auto d_sum = has_z ? gradients[0] : Tensor();
    const auto d_norm = gradients.back();
    tensor_list result(5);  // of x, z, dropout, g, b
    if (!d_norm.defined()) {
      result[0] = d_sum;
      if (d_sum.defined()) result[1] = kernels::dropout(d_sum, dropout);
      return result;
    }
    const auto [d_x, d_z, d_g, d_b] = row_operators::add_and_norm_backward(
        d_sum.defined() ? d_sum.contiguous() : d_sum, d_norm.contiguous(), sum, stats, g, dropout,
        /*want_d_z=*/has_z && dropout.p > 0);
    if (has_z) result[1] = dropout.p > 0 ? d_z : d_x;
    result[0] = d_x;
    result[3] = d_g;
    result[4] = d_b;
    return result;
  }
};

}  // namespace

NormOfSum add_and_norm(const Tensor& x, const Tensor& z, const DrawnDropout& dropout,
                       const Tensor& g, const Tensor& b) {
  TORCH_CHECK(
      x.size(-1) == g.numel() && b.sizes() == g.sizes() && (!z.defined() || z.sizes() == x.sizes()),
      "the shapes do not fit the normalisation");
  if (!is_fused_on(x) && !has_kernel_operators(x)) {
    const auto sum = z.defined() ? x + kernels::dropout(z, dropout) : x;
    return {sum, torch::layer_norm(sum, g.sizes(), g, b, norm_epsilon)};
  }
  const auto from = x.contiguous();
  const auto added = z.defined() ? std::optional(z.contiguous()) : std::nullopt;
  if (!torch::GradMode::is_enabled()) {
    const auto computed =
        row_operators::add_and_norm(from, added.value_or(Tensor()), dropout, g, b);
    return {computed.sum, computed.norm};
  }
  const auto outputs = AddAndNorm::apply(from, added, dropout, g.contiguous(), b.contiguous());
  return {z.defined() ? outputs[0] : x, outputs.back()};
}

}  // namespace regard::kernels
