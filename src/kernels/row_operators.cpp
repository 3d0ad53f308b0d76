#include "kernels/row_operators.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "kernels/loops/functions.h"
#include "kernels/loops/layer_norm.h"
#include "kernels/maybe.h"
#include "kernels/row_kernels.h"

namespace regard::kernels::row_operators {

using torch::Tensor;

TORCH_LIBRARY(regard, library) {
  library.def("dropout(Tensor x, float p, int key, Tensor? key_in_memory, bool is_relu) -> Tensor");
  library.def("relu_dropout_backward(Tensor y, Tensor d_y, float p) -> Tensor");
  library.def(
      "add_and_norm(Tensor x, Tensor? z, float p, int key, Tensor? key_in_memory, Tensor g, "
      "Tensor b) -> (Tensor, Tensor, Tensor)");
  library.def(
      "add_and_norm_backward(Tensor? d_sum, Tensor d_y, Tensor sum, Tensor stats, Tensor g, "
      "float p, int key, Tensor? key_in_memory, bool want_d_z) -> (Tensor, Tensor, Tensor, "
      "Tensor)");
  library.def(
      "cross_entropy(Tensor(a!) logits, Tensor bias, Tensor targets, Tensor? ignored, "
      "float label_smoothing, bool with_gradient) -> (Tensor, Tensor, Tensor)");
}

namespace {

using Operators = RowOperators<void>;  // for the types of its functions

// Calls the operator of this name, which takes the arguments of a function F.
template <typename F, typename... Arguments>
auto call(const char* name, const Arguments&... arguments) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<F>().call(
      arguments...);
}

Tensor call_dropout(const Tensor& x, const DrawnDropout& dropout, bool is_relu) {
  return call<decltype(Operators::dropout)>("regard::dropout", x, dropout.p, dropout.key_as_int(),
                                            maybe(dropout.key_on_device), is_relu);
}

}  // namespace

Tensor dropout(const Tensor& x, const DrawnDropout& dropout) {
  if (!x.is_cpu()) return call_dropout(x, dropout, /*is_relu=*/false);
  const auto from = x.contiguous();
  const auto y = torch::empty_like(from);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    dropout_rows(y.numel(), from.const_data_ptr<scalar_t>(), dropout,
                 y.mutable_data_ptr<scalar_t>());
  });
  return y;
}

Tensor relu_dropout(const Tensor& x, const DrawnDropout& dropout) {
  return call_dropout(x, dropout, /*is_relu=*/true);
}

Tensor relu_dropout_backward(const Tensor& y, const Tensor& d_y, double p) {
  return call<decltype(Operators::relu_dropout_backward)>("regard::relu_dropout_backward", y, d_y,
                                                          p);
}

Norm add_and_norm(const Tensor& x, const Tensor& z, const DrawnDropout& dropout, const Tensor& g,
                  const Tensor& b) {
  if (!x.is_cpu()) {
    const auto [sum, norm, stats] = call<decltype(Operators::add_and_norm)>(
        "regard::add_and_norm", x, maybe(z), dropout.p, dropout.key_as_int(),
        maybe(dropout.key_on_device), g, b);
    return {z.defined() ? sum : x, norm, stats};
  }
  const auto D = g.numel();
  const auto n = x.numel() / D;
  const auto sum = z.defined() ? torch::empty_like(x) : x;
  const auto norm = torch::empty_like(x);
  const auto stats = torch::empty({n, 2}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_and_norm", [&] {
    add_and_norm_rows<scalar_t>(n, D, x.const_data_ptr<scalar_t>(), read<scalar_t>(maybe(z)),
                                dropout, g.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(),
                                z.defined() ? sum.mutable_data_ptr<scalar_t>() : nullptr,
                                norm.mutable_data_ptr<scalar_t>(),
                                stats.mutable_data_ptr<scalar_t>());
  });
  return {sum, norm, stats};
}

NormGradients add_and_norm_backward(const Tensor& d_sum, const Tensor& d_y, const Tensor& sum,
                                    const Tensor& stats, const Tensor& g,
                                    const DrawnDropout& dropout, bool want_d_z) {
  if (!sum.is_cpu()) {
    const auto [d_x, d_z, d_g, d_b] = call<decltype(Operators::add_and_norm_backward)>(
        "regard::add_and_norm_backward", maybe(d_sum), d_y, sum, stats, g, dropout.p,
        dropout.key_as_int(), maybe(dropout.key_on_device), want_d_z);
    return {d_x, d_z, d_g, d_b};
  }
  const auto d_x = torch::empty_like(sum);
  const auto d_z = want_d_z ? torch::empty_like(sum) : torch::empty({0}, sum.options());
  const auto d_g = torch::zeros_like(g);
  const auto d_b = torch::zeros_like(g);
  AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "add_and_norm_backward", [&] {
    add_and_norm_rows_backward<scalar_t>(
        stats.size(0), g.numel(), read<scalar_t>(maybe(d_sum)), d_y.const_data_ptr<scalar_t>(),
        sum.const_data_ptr<scalar_t>(), stats.const_data_ptr<scalar_t>(),
        g.const_data_ptr<scalar_t>(), dropout, d_x.mutable_data_ptr<scalar_t>(),
        want_d_z ? d_z.mutable_data_ptr<scalar_t>() : nullptr, d_g.mutable_data_ptr<scalar_t>(),
        d_b.mutable_data_ptr<scalar_t>());
  });
  return {d_x, d_z, d_g, d_b};
}

LossOfRows cross_entropy(const Tensor& logits, const Tensor& bias, const Tensor& targets,
                         const Tensor& ignored, double label_smoothing, bool with_gradient) {
  const auto [loss, nll, d_bias] = call<decltype(Operators::cross_entropy)>(
      "regard::cross_entropy", logits, bias, targets.contiguous(), maybe(ignored), label_smoothing,
      with_gradient);
  return {loss, nll, d_bias};
}

}  // namespace regard::kernels::row_operators
