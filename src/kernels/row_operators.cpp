#include "kernels/row_operators.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "kernels/loops/functions.h"
#include "kernels/loops/layer_norm.h"

namespace regard::kernels::row_operators {
namespace {

using torch::Tensor;
using Maybe = std::optional<Tensor>;

Maybe maybe(const Tensor& x) {
  return x.defined() ? Maybe(x) : std::nullopt;
}

template <typename T>
const T* data_or_null(const Maybe& x) {
  return x ? x->const_data_ptr<T>() : nullptr;
}

KeyedDropout dropout_of(double p, std::int64_t key, const Maybe& key_in_memory) {
  if (key_in_memory) key = key_in_memory->item<std::int64_t>();
  return {.p = p, .key = static_cast<std::uint64_t>(key)};
}

// The operators on the CPU. Their arguments are those of the schemas below.

Tensor dropout_on_cpu(const Tensor& x, double p, std::int64_t key, const Maybe& key_in_memory,
                      bool is_relu) {
  const auto from = x.contiguous();
  const auto y = is_relu ? from.clone() : torch::empty_like(from);
  const auto dropout = dropout_of(p, key, key_in_memory);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    auto* to = y.mutable_data_ptr<scalar_t>();
    if (is_relu) {
      relu_dropout_rows(1, y.numel(), dropout, to);
    } else {
      dropout_rows(y.numel(), from.const_data_ptr<scalar_t>(), dropout, to);
    }
  });
  return y;
}

Tensor relu_dropout_backward_on_cpu(const Tensor& y, const Tensor& d_y, double p) {
  const auto d_x = torch::empty_like(y);
  const auto n = y.numel();
  AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "relu_dropout_backward", [&] {
    const auto sums = torch::empty({n}, y.options());
    relu_dropout_rows_backward<scalar_t>(
        1, n, {.p = p}, y.const_data_ptr<scalar_t>(), d_y.const_data_ptr<scalar_t>(),
        d_x.mutable_data_ptr<scalar_t>(), sums.mutable_data_ptr<scalar_t>());
  });
  return d_x;
}

std::tuple<Tensor, Tensor, Tensor> add_and_norm_on_cpu(const Tensor& x, const Maybe& z, double p,
                                                       std::int64_t key, const Maybe& key_in_memory,
                                                       const Tensor& g, const Tensor& b) {
  const auto D = g.numel();
  const auto n = x.numel() / D;
  const auto sum = z ? torch::empty_like(x) : torch::empty({0}, x.options());
  const auto norm = torch::empty_like(x);
  const auto stats = torch::empty({n, 2}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_and_norm", [&] {
    add_and_norm_rows<scalar_t>(
        n, D, x.const_data_ptr<scalar_t>(), data_or_null<scalar_t>(z),
        dropout_of(p, key, key_in_memory), g.const_data_ptr<scalar_t>(),
        b.const_data_ptr<scalar_t>(), z ? sum.mutable_data_ptr<scalar_t>() : nullptr,
        norm.mutable_data_ptr<scalar_t>(), stats.mutable_data_ptr<scalar_t>());
  });
  return {sum, norm, stats};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> add_and_norm_backward_on_cpu(
    const Maybe& d_sum, const Tensor& d_y, const Tensor& sum, const Tensor& stats, const Tensor& g,
    double p, std::int64_t key, const Maybe& key_in_memory, bool want_d_z) {
  const auto d_x = torch::empty_like(sum);
  const auto d_z = want_d_z ? torch::empty_like(sum) : torch::empty({0}, sum.options());
  const auto d_g = torch::zeros_like(g);
  const auto d_b = torch::zeros_like(g);
  AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "add_and_norm_backward", [&] {
    add_and_norm_rows_backward<scalar_t>(
        stats.size(0), g.numel(), data_or_null<scalar_t>(d_sum), d_y.const_data_ptr<scalar_t>(),
        sum.const_data_ptr<scalar_t>(), stats.const_data_ptr<scalar_t>(),
        g.const_data_ptr<scalar_t>(), dropout_of(p, key, key_in_memory),
        d_x.mutable_data_ptr<scalar_t>(), want_d_z ? d_z.mutable_data_ptr<scalar_t>() : nullptr,
        d_g.mutable_data_ptr<scalar_t>(), d_b.mutable_data_ptr<scalar_t>());
  });
  return {d_x, d_z, d_g, d_b};
}

std::tuple<Tensor, Tensor, Tensor> cross_entropy_on_cpu(const Tensor& logits, const Tensor& bias,
                                                        const Tensor& targets, const Maybe& ignored,
                                                        double label_smoothing,
                                                        bool with_gradient) {
  const auto n = logits.size(0), V = logits.size(1);
  const auto nll = torch::zeros({n}, logits.options().dtype(torch::kDouble));
  const auto d_bias = torch::zeros_like(bias);
  double loss = 0;
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
    const auto result = with_gradient ? logits : logits.clone();  // the loops overwrite it
    auto* row = result.mutable_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < n; ++i, row += V) {
      if (ignored && ignored->const_data_ptr<bool>()[i]) {
        std::fill(row, row + V, scalar_t(0));
        continue;
      }
      loss += cross_entropy_rows<scalar_t>(
          1, V, row, bias.const_data_ptr<scalar_t>(), targets.const_data_ptr<std::int64_t>() + i,
          label_smoothing, d_bias.mutable_data_ptr<scalar_t>(), nll.mutable_data_ptr<double>() + i);
    }
  });
  return {torch::full({}, loss, logits.options()), nll, d_bias};
}

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

TORCH_LIBRARY_IMPL(regard, CPU, library) {
  library.impl("dropout", &dropout_on_cpu);
  library.impl("relu_dropout_backward", &relu_dropout_backward_on_cpu);
  library.impl("add_and_norm", &add_and_norm_on_cpu);
  library.impl("add_and_norm_backward", &add_and_norm_backward_on_cpu);
  library.impl("cross_entropy", &cross_entropy_on_cpu);
}

// Calls the operator of this name for the device of x. On the CPU, calls its function itself.
template <typename F, typename... Arguments>
auto call(const char* name, F* on_cpu, const Tensor& x, const Arguments&... arguments) {
  if (x.is_cpu()) return on_cpu(arguments...);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<F>().call(
      arguments...);
}

}  // namespace

Tensor dropout(const Tensor& x, const DrawnDropout& dropout, bool is_relu) {
  return call("regard::dropout", &dropout_on_cpu, x, x, dropout.p, dropout.key_as_int(),
              maybe(dropout.key_on_device), is_relu);
}

Tensor relu_dropout_backward(const Tensor& y, const Tensor& d_y, double p) {
  return call("regard::relu_dropout_backward", &relu_dropout_backward_on_cpu, y, y, d_y, p);
}

Norm add_and_norm(const Tensor& x, const Tensor& z, const DrawnDropout& dropout, const Tensor& g,
                  const Tensor& b) {
  const auto [sum, norm, stats] =
      call("regard::add_and_norm", &add_and_norm_on_cpu, x, x, maybe(z), dropout.p,
           dropout.key_as_int(), maybe(dropout.key_on_device), g, b);
  return {z.defined() ? sum : x, norm, stats};
}

NormGradients add_and_norm_backward(const Tensor& d_sum, const Tensor& d_y, const Tensor& sum,
                                    const Tensor& stats, const Tensor& g,
                                    const DrawnDropout& dropout, bool want_d_z) {
  const auto [d_x, d_z, d_g, d_b] =
      call("regard::add_and_norm_backward", &add_and_norm_backward_on_cpu, sum, maybe(d_sum), d_y,
           sum, stats, g, dropout.p, dropout.key_as_int(), maybe(dropout.key_on_device), want_d_z);
  return {d_x, d_z, d_g, d_b};
}

LossOfRows cross_entropy(const Tensor& logits, const Tensor& bias, const Tensor& targets,
                         const Tensor& ignored, double label_smoothing, bool with_gradient) {
  const auto [loss, nll, d_bias] =
      call("regard::cross_entropy", &cross_entropy_on_cpu, logits, logits, bias,
           targets.contiguous(), maybe(ignored), label_smoothing, with_gradient);
  return {loss, nll, d_bias};
}

}  // namespace regard::kernels::row_operators
