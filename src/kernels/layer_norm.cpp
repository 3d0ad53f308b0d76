#include "kernels/layer_norm.h"

#include <torch/autograd.h>
#include <torch/utils.h>

#include <optional>
#include <tuple>

#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/loops/layer_norm.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

template <typename T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.const_data_ptr<T>() : nullptr;
}

struct ComputedNorm {
  Tensor sum;    // [..., D]; x itself if z is undefined
  Tensor norm;   // [..., D]
  Tensor stats;  // [n, 2]
};

// All tensors are contiguous.
ComputedNorm compute_layer_norm(const Tensor& x, const Tensor& z, const KeyedDropout& dropout,
                                const Tensor& g, const Tensor& b) {
  const auto D = g.numel();
  const auto n = x.numel() / D;
  const ComputedNorm computed = {z.defined() ? torch::empty_like(x) : x, torch::empty_like(x),
                                 torch::empty({n, 2}, x.options())};
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_and_norm", [&] {
    add_and_norm_rows<scalar_t>(n, D, x.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(z),
                                dropout, g.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(),
                                z.defined() ? computed.sum.mutable_data_ptr<scalar_t>() : nullptr,
                                computed.norm.mutable_data_ptr<scalar_t>(),
                                computed.stats.mutable_data_ptr<scalar_t>());
  });
  return computed;
}

// Returns the sum and its norm, or the norm alone if there is no z.
class AddAndNorm : public torch::autograd::Function<AddAndNorm> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x,
                             const std::optional<Tensor>& z, const KeyedDropout& dropout,
                             const Tensor& g, const Tensor& b) {
    const auto [sum, norm, stats] = compute_layer_norm(x, z.value_or(Tensor()), dropout, g, b);
    context->save_for_backward({sum, stats, g});
    context->saved_data["p"] = dropout.p;
    context->saved_data["key"] = static_cast<std::int64_t>(dropout.key);
    context->saved_data["has_z"] = z.has_value();
    context->set_materialize_grads(false);
    if (z) return {sum, norm};
    return {norm};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const KeyedDropout dropout = {
        .p = context->saved_data["p"].toDouble(),
        .key = static_cast<std::uint64_t>(context->saved_data["key"].toInt())};
    const auto saved = context->get_saved_variables();
    const auto& [sum, stats, g] = std::tie(saved[0], saved[1], saved[2]);
    const bool has_z = context->saved_data["has_z"].toBool();
    const auto d_sum = has_z ? gradients[0] : Tensor();
    const auto d_norm = gradients.back();
    tensor_list result(5);  // of x, z, dropout, g, b
    if (!d_norm.defined()) {
      result[0] = d_sum;
      if (d_sum.defined()) result[1] = kernels::dropout(d_sum, dropout);
      return result;
    }
    const auto d_x = torch::empty_like(sum);
    const auto d_z = has_z && dropout.p > 0 ? torch::empty_like(sum) : Tensor();
    const auto d_g = torch::zeros_like(g);
    const auto d_b = torch::zeros_like(g);
    const auto d_s = d_sum.defined() ? d_sum.contiguous() : d_sum;
    const auto d_y = d_norm.contiguous();
    AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "add_and_norm_backward", [&] {
      add_and_norm_rows_backward<scalar_t>(
          stats.size(0), g.numel(), data_or_null<scalar_t>(d_s), d_y.const_data_ptr<scalar_t>(),
          sum.const_data_ptr<scalar_t>(), stats.const_data_ptr<scalar_t>(),
          g.const_data_ptr<scalar_t>(), dropout, d_x.mutable_data_ptr<scalar_t>(),
          d_z.defined() ? d_z.mutable_data_ptr<scalar_t>() : nullptr,
          d_g.mutable_data_ptr<scalar_t>(), d_b.mutable_data_ptr<scalar_t>());
    });
    if (has_z) result[1] = d_z.defined() ? d_z : d_x;
    result[0] = d_x;
    result[3] = d_g;
    result[4] = d_b;
    return result;
  }
};

}  // namespace

NormOfSum add_and_norm(const Tensor& x, const Tensor& z, const KeyedDropout& dropout,
                       const Tensor& g, const Tensor& b) {
  TORCH_CHECK(
      x.size(-1) == g.numel() && b.sizes() == g.sizes() && (!z.defined() || z.sizes() == x.sizes()),
      "the shapes do not fit the normalisation");
  if (!is_fused_on(x)) {
    const auto sum = z.defined() ? x + kernels::dropout(z, dropout) : x;
    return {sum, torch::layer_norm(sum, g.sizes(), g, b, norm_epsilon)};
  }
  const auto from = x.contiguous();
  const auto added = z.defined() ? std::optional(z.contiguous()) : std::nullopt;
  if (!torch::GradMode::is_enabled()) {
    const auto computed = compute_layer_norm(from, added.value_or(Tensor()), dropout, g, b);
    return {computed.sum, computed.norm};
  }
  const auto outputs = AddAndNorm::apply(from, added, dropout, g.contiguous(), b.contiguous());
  return {z.defined() ? outputs[0] : x, outputs.back()};
}

}  // namespace regard::kernels
