#include "kernels/linear.h"

#include <torch/autograd.h>

#include "kernels/deferred_weight_gradients.h"
#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/gradient_factors.h"
#include "kernels/loops/functions.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// The function of the product: the identity, or dropout(max(0, y)).
struct Activation {
  bool is_relu = false;
  DrawnDropout dropout = {};
};

// x [M, K], W [K, N], b [N] or none -> y = x W + b in training, or its activation.
//
//   dx = dy Wᵀ    dW = xᵀ dy    db = Σ_m dy_m
class TrainingProduct : public torch::autograd::Function<TrainingProduct> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& W,
                        const std::optional<Tensor>& b, const Activation& activation) {
    auto y = torch::empty({x.size(0), W.size(1)}, x.options());
    linear_into(y, x, W, b.value_or(Tensor()));
    if (activation.is_relu) {
      AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "relu_dropout", [&] {
        relu_dropout_rows(y.size(0), y.size(1), activation.dropout, y.mutable_data_ptr<scalar_t>());
      });
    }
    context->save_for_backward({x, W, activation.is_relu ? y : Tensor()});
    context->saved_data["has_bias"] = b.has_value();
    context->saved_data["p"] = activation.dropout.p;
    context->set_materialize_grads(false);
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    tensor_list result(4);
    if (!gradients[0].defined()) return result;
    const auto saved = context->get_saved_variables();
    const auto& [x, W, y] = std::tie(saved[0], saved[1], saved[2]);
    auto d_y = gradients[0].contiguous();
    Tensor d_b;
    if (y.defined()) {
      const KeyedDropout dropout = {.p = context->saved_data["p"].toDouble()};
      const auto d_activation = d_y;
      d_y = torch::empty_like(y);
      d_b = torch::empty({y.size(1)}, y.options());
      AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "relu_dropout_backward", [&] {
        relu_dropout_rows_backward(y.size(0), y.size(1), dropout, y.const_data_ptr<scalar_t>(),
                                   d_activation.const_data_ptr<scalar_t>(),
                                   d_y.mutable_data_ptr<scalar_t>(),
                                   d_b.mutable_data_ptr<scalar_t>());
      });
    }
    if (context->needs_input_grad(0)) {
      result[0] = torch::empty_like(x);
      linear_into(result[0], d_y, W.t());
    }
    if (context->needs_input_grad(1)) result[1] = weight_gradient(W, x, d_y);
    const bool has_bias = context->saved_data["has_bias"].toBool();
    if (has_bias && context->needs_input_grad(2)) result[2] = d_b.defined() ? d_b : d_y.sum(0);
    return result;
  }
};

Tensor training_product(const Tensor& x, const Tensor& W, const Tensor& b,
                        const Activation& activation = {}) {
  return TrainingProduct::apply(x, W, b.defined() ? std::optional(b.contiguous()) : std::nullopt,
                                activation);
}

// x [..., K] -> [M, K]
Tensor rows_of(const Tensor& x) {
  return x.reshape({-1, x.size(-1)}).contiguous();
}

// y [M, N], the result for the rows of x [..., K] -> [..., N]
Tensor in_shape_of(const Tensor& x, const Tensor& y) {
  auto shape = x.sizes().vec();
  shape.back() = y.size(1);
  return y.view(shape);
}

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

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b) {
  if (has_bf16_reference_products(x)) {
    const auto y = bf16_product(x, W.t());
    return b.defined() ? y + b : y;
  }
  auto* packed = search_weights_for(W);
  const bool is_plain = packed == nullptr && !is_deferred(W);
  if (is_plain && training_weights_for(x) == nullptr) return torch::linear(x, W, b);
  const auto rows = rows_of(x);
  if (is_plain) return in_shape_of(x, training_product(rows, W.t(), b));
  if (packed == nullptr) {
    const auto y = in_shape_of(x, deferred_product(rows, W.t()));
    return b.defined() ? y + b : y;
  }
  const auto y = torch::empty({rows.size(0), W.size(0)}, x.options());
  packed->get_or_pack(W.t()).multiply_with_bias(rows, b.defined() ? b.contiguous() : b, y);
  return in_shape_of(x, y);
}

torch::Tensor linear_relu(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b,
                          const DrawnDropout& dropout) {
  const bool is_fused = is_fused_on(x) && torch::GradMode::is_enabled() && !is_deferred(W);
  if (is_fused) {
    return in_shape_of(
        x, training_product(rows_of(x), W.t(), b, {.is_relu = true, .dropout = dropout}));
  }
  return relu_dropout(linear(x, W, b), dropout);
}

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& W) {
  return kernels::linear(x, W.t());
}

torch::Tensor add_product(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W) {
  const bool uses_libtorch = search_weights_for(W) == nullptr && !is_deferred(W) &&
                             training_weights_for(x) == nullptr && !has_bf16_reference_products(x);
  return uses_libtorch ? torch::addmm(b, x, W) : b + product(x, W);
}

torch::Tensor product_with_vector(const torch::Tensor& x, const torch::Tensor& v) {
  if (search_weights_for(v) == nullptr) return x.matmul(v);
  return kernels::linear(x, v.unsqueeze(0)).squeeze(-1);
}

torch::Tensor linear_each(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W) {
  if (has_bf16_reference_products(x)) return b + bf16_product(x, W);
  auto* packed = search_weights_for(W);
  if (packed == nullptr && is_deferred(W)) return b + deferred_product(x, W);
  if (packed == nullptr && training_weights_for(x) != nullptr) {
    // The gradient of x is a copy of those of unbind(), but a sum of those of x[0], x[1], …
    const auto xs = x.unbind(), Ws = W.unbind(), bs = b.squeeze(1).unbind();
    std::vector<Tensor> products;
    for (std::size_t g = 0; g < Ws.size(); ++g) {
      products.push_back(training_product(xs[g].contiguous(), Ws[g], bs[g]));
    }
    return torch::stack(products);
  }
  if (packed == nullptr) return torch::baddbmm(b, x, W);
  auto y = torch::empty({W.size(0), x.size(1), W.size(2)}, x.options());
  y.copy_(b);
  for (std::int64_t g = 0; g < W.size(0); ++g) {
    packed->get_or_pack(W[g]).multiply(x[g].contiguous(), y[g], /*add=*/true);
  }
  return y;
}

torch::Tensor neighbourhoods(const torch::Tensor& x) {
  return Neighbourhoods::apply(x);
}

SelectedRows::SelectedRows(const Tensor& W, const Tensor& b, const Tensor& rows)
    : W_(W.index_select(0, rows)), b_(b.index_select(0, rows)) {
  if (const auto* weights = search_weights_for(W)) {
    packed_ = std::make_unique<PackedMatrix>(W_.t(), weights->precision());
  }
}

SelectedRows::~SelectedRows() = default;
SelectedRows::SelectedRows(SelectedRows&&) noexcept = default;
SelectedRows& SelectedRows::operator=(SelectedRows&&) noexcept = default;

torch::Tensor SelectedRows::linear(const Tensor& x) const {
  if (!packed_) return torch::linear(x, W_, b_);
  const auto y = torch::empty({x.size(0), W_.size(0)}, x.options());
  packed_->multiply_with_bias(x.contiguous(), b_, y);
  return y;
}

}  // namespace regard::kernels
