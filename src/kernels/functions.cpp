#include "kernels/functions.h"

#include <torch/autograd.h>

#include "kernels/device.h"
#include "kernels/loops/functions.h"
#include "kernels/mode.h"
#include "kernels/row_operators.h"

namespace regard::kernels {
namespace {

using torch::Tensor;

Tensor each_element(Elementwise f, const Tensor& x) {
  const auto from = x.contiguous();
  auto y = torch::empty_like(from);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "elementwise", [&] {
    elementwise<scalar_t>(f, from.numel(), from.const_data_ptr<scalar_t>(),
                          y.mutable_data_ptr<scalar_t>());
  });
  return y;
}

// Calls rows(n, width, x, y) with the type of x.
template <typename Rows>
Tensor each_row(const Tensor& x, const Rows& rows) {
  const auto from = x.contiguous();
  auto y = torch::empty_like(from);
  const auto width = x.size(-1);
  if (from.numel() == 0) return y;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "each_row", [&] {
    rows(from.numel() / width, width, from.const_data_ptr<scalar_t>(),
         y.mutable_data_ptr<scalar_t>());
  });
  return y;
}

}  // namespace

Tensor tanh(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::tanh, x) : x.tanh();
}

Tensor sigmoid(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::sigmoid, x) : x.sigmoid();
}

Tensor exp(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::exp, x) : x.exp();
}

Tensor log(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::log, x) : x.log();
}

Tensor softplus(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::softplus, x) : torch::softplus(x);
}

Tensor log_sigmoid(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::log_sigmoid, x) : torch::log_sigmoid(x);
}

Tensor gelu(const Tensor& x) {
  return in_search(x) ? each_element(Elementwise::gelu, x) : torch::gelu(x);
}

Tensor softmax(const Tensor& x) {
  if (!in_search(x)) return x.softmax(-1);
  return each_row(x, [](auto n, auto width, const auto* from, auto* to) {
    softmax_of_rows(n, width, from, to);
  });
}

Tensor log_softmax(const Tensor& x) {
  if (!in_search(x)) return x.log_softmax(-1);
  return each_row(x, [](auto n, auto width, const auto* from, auto* to) {
    log_softmax_rows(n, width, from, to);
  });
}

Tensor unit(const Tensor& x, double least) {
  if (!in_search(x)) return x / x.norm(2, -1, /*keepdim=*/true).clamp_min(least);
  return each_row(x, [&]<typename T>(auto n, auto width, const T* from, T* to) {
    unit_rows(n, width, static_cast<T>(least), from, to);
  });
}

Tensor log_sum_exp(const Tensor& x) {
  if (!in_search(x)) return x.logsumexp(0);
  const auto from = x.contiguous();
  auto y = torch::empty_like(from[0]);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "log_sum_exp", [&] {
    log_sum_exp_of<scalar_t>(from.size(0), y.numel(), from.const_data_ptr<scalar_t>(),
                             y.mutable_data_ptr<scalar_t>());
  });
  return y;
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const DrawnDropout& dropout) {
    context->saved_data["p"] = dropout.p;
    context->saved_data["key"] = dropout.key_as_int();
    context->save_for_backward({dropout.key_on_device});
    return row_operators::dropout(x, dropout);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const KeyedDropout dropout = {
        .p = context->saved_data["p"].toDouble(),
        .key = static_cast<std::uint64_t>(context->saved_data["key"].toInt())};
    return {row_operators::dropout(gradients[0], {dropout, context->get_saved_variables()[0]}),
            Tensor()};
  }
};

class ReluDropoutFunction : public torch::autograd::Function<ReluDropoutFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const DrawnDropout& dropout) {
    const auto y = row_operators::relu_dropout(x, dropout);
    context->saved_data["p"] = dropout.p;
    context->save_for_backward({y});
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {row_operators::relu_dropout_backward(context->get_saved_variables()[0],
                                                 gradients[0].contiguous(),
                                                 context->saved_data["p"].toDouble()),
            Tensor()};
  }
};

}  // namespace

Tensor dropout(const Tensor& x, const DrawnDropout& dropout) {
  if (dropout.p == 0) return x;
  if (!is_fused_on(x) && !has_kernel_operators(x))
    return torch::dropout(x, dropout.p, /*train=*/true);
  return DropoutFunction::apply(x, dropout);
}

Tensor relu_dropout(const Tensor& x, const DrawnDropout& dropout) {
  if (dropout.p > 0 && has_kernel_operators(x)) return ReluDropoutFunction::apply(x, dropout);
  return kernels::dropout(x.relu_(), dropout);
}

}  // namespace regard::kernels
