#include "kernels/scaled_dot_product.h"

#include <torch/autograd.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>

#include "kernels/device.h"
#include "kernels/loops/heads.h"

namespace regard::kernels {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

namespace {

// x [B, H, T, d]
template <typename T>
Heads<T> heads_of(const Tensor& x) {
  TORCH_CHECK(x.size(3) <= 1 || x.stride(3) == 1, "the last dimension of heads must be contiguous");
  if constexpr (std::is_const_v<T>) {
    return {x.const_data_ptr<std::remove_const_t<T>>(), x.stride(0), x.stride(2), x.stride(1)};
  } else {
    return {x.mutable_data_ptr<T>(), x.stride(0), x.stride(2), x.stride(1)};
  }
}

// q [B, H, T, d], k [B, H, S, d]
HeadSizes sizes_of(const Tensor& q, const Tensor& k, const Tensor& lengths, bool causal) {
  return {.B = q.size(0),
          .H = q.size(1),
          .T = q.size(2),
          .S = k.size(2),
          .width = q.size(3),
          .lengths = lengths.defined() ? lengths.const_data_ptr<std::int64_t>() : nullptr,
          .causal = causal};
}

double scale_of(const Tensor& q) {
  return 1 / std::sqrt(static_cast<double>(q.size(3)));
}

template <typename T>
const HeadLoops<T>& fastest_head_loops() {
  static const HeadLoops<T> loops = runnable_head_loops<T>().at(0);
  return loops;
}

Tensor with_contiguous_rows(const Tensor& x) {
  return x.stride(2) == 1 ? x : x.contiguous();
}

// The heads of q [B, T, D] and of keys_and_values [B, S, 2D]: views [B, H, T, d], [B, H, S, d].
struct SplitHeads {
  Tensor q, k, v;
};
SplitHeads split_inputs(const Tensor& q, const Tensor& keys_and_values, std::int64_t heads) {
  const auto halves = keys_and_values.chunk(2, -1);
  return {split_heads(q, heads), split_heads(halves[0], heads), split_heads(halves[1], heads)};
}

// Returns y [B, T, D]. Writes the weights and the logarithms of their sums to `alpha` and
// `log_sums` (HeadLoops), unless they are undefined.
Tensor compute_attention(const SplitHeads& x, const HeadSizes& sizes, const Tensor& alpha,
                         const Tensor& log_sums) {
  const auto y = torch::empty({sizes.B, sizes.T, sizes.H * sizes.width}, x.q.options());
  AT_DISPATCH_FLOATING_TYPES(x.q.scalar_type(), "scaled_dot_product", [&] {
    using Number = scalar_t;
    const auto& loops = fastest_head_loops<Number>();
    const auto data = [](const Tensor& tensor) {
      return tensor.defined() ? tensor.mutable_data_ptr<Number>() : nullptr;
    };
    const auto scratch = torch::empty({loops.scratch_size(sizes)}, x.q.options());
    loops.forward(sizes, static_cast<Number>(scale_of(x.q)), heads_of<const Number>(x.q),
                  heads_of<const Number>(x.k), heads_of<const Number>(x.v), data(scratch),
                  data(alpha), data(log_sums), heads_of<Number>(split_heads(y, sizes.H)));
  });
  return y;
}

// scaled_dot_product() with its gradient. Keeps the weights of short sequences; of longer ones,
// whose weights need much more memory than anything else, the logarithms of their sums.
class HeadsFunction : public torch::autograd::Function<HeadsFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& keys_and_values,
                        std::int64_t heads, const std::optional<Tensor>& lengths, bool causal) {
    const auto ends = lengths.value_or(Tensor());
    const auto x = split_inputs(q, keys_and_values, heads);
    const auto sizes = sizes_of(x.q, x.k, ends, causal);
    Tensor alpha, log_sums;
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "scaled_dot_product", [&] {
      const auto& loops = fastest_head_loops<scalar_t>();
      if (sizes.S <= longest_with_weights) {
        alpha = torch::empty({loops.alpha_size(sizes)}, q.options());
      } else {
        log_sums = torch::empty({loops.log_sums_size(sizes)}, q.options());
      }
    });
    context->save_for_backward({q, keys_and_values, ends, alpha, log_sums});
    context->saved_data["heads"] = heads;
    context->saved_data["causal"] = causal;
    return compute_attention(x, sizes, alpha, log_sums);
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [q, keys_and_values, alpha, log_sums] =
        std::tie(saved[0], saved[1], saved[3], saved[4]);
    const auto heads = context->saved_data["heads"].toInt();
    const auto x = split_inputs(q, keys_and_values, heads);
    const auto sizes = sizes_of(x.q, x.k, saved[2], context->saved_data["causal"].toBool());
    const auto d_y = with_contiguous_rows(gradients[0]);
    const auto d_q = torch::empty(q.sizes(), q.options());
    const auto d_keys_and_values = torch::empty(keys_and_values.sizes(), q.options());
    const auto d_x = split_inputs(d_q, d_keys_and_values, heads);
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "scaled_dot_product_backward", [&] {
      using Number = scalar_t;
      const auto& loops = fastest_head_loops<Number>();
      const auto data = [](const Tensor& tensor) {
        return tensor.defined() ? tensor.const_data_ptr<Number>() : nullptr;
      };
      const auto scratch = torch::empty({loops.scratch_size(sizes)}, q.options());
      loops.backward(sizes, static_cast<Number>(scale_of(x.q)), heads_of<const Number>(x.q),
                     heads_of<const Number>(x.k), heads_of<const Number>(x.v), data(alpha),
                     data(log_sums), heads_of<const Number>(split_heads(d_y, heads)),
                     scratch.mutable_data_ptr<Number>(), heads_of<Number>(d_x.q),
                     heads_of<Number>(d_x.k), heads_of<Number>(d_x.v));
    });
    return {d_q, d_keys_and_values, Tensor(), Tensor(), Tensor()};
  }

 private:
  static constexpr std::int64_t longest_with_weights = 64;  // positions
};

}  // namespace

Tensor scaled_dot_product(const Tensor& q, const Tensor& keys_and_values, std::int64_t heads,
                          const Tensor& bias, const Tensor& lengths, bool causal) {
  if (is_fused_on(q)) {
    TORCH_CHECK(keys_and_values.size(2) == 2 * q.size(2), "keys and values: found ",
                keys_and_values.sizes(), ", expected twice the width of the queries");
    const auto rows = with_contiguous_rows(q), sources = with_contiguous_rows(keys_and_values);
    if (torch::GradMode::is_enabled() && (q.requires_grad() || sources.requires_grad())) {
      return HeadsFunction::apply(
          rows, sources, heads, lengths.defined() ? std::optional(lengths) : std::nullopt, causal);
    }
    const auto x = split_inputs(rows, sources, heads);
    return compute_attention(x, sizes_of(x.q, x.k, lengths, causal), {}, {});
  }
  const auto [by_head, k, v] = split_inputs(q, keys_and_values, heads);
  const auto mask = bias.defined() ? std::optional(bias) : std::nullopt;
  const auto y =
      q.is_cpu() ? scaled_dot_product_weights(by_head, k, bias, causal).matmul(v)
                 : at::scaled_dot_product_attention(by_head, k, v, mask, /*dropout_p=*/0, causal);
  return y.transpose(1, 2).reshape(q.sizes());
}

namespace {

// x and rotation are contiguous. The inverse rotation is the gradient.
Tensor rotated(const Tensor& x, std::int64_t width, const Tensor& rotation, bool inverse) {
  if (!x.is_cpu()) return rotate_composite(x, width, rotation, inverse);
  const auto y = torch::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rotate", [&] {
    rotate_rows<scalar_t>({.rows = x.size(0) * x.size(1),
                           .columns = x.size(2),
                           .width = width,
                           .angles = rotation.size(0),
                           .d = rotation.size(1)},
                          inverse, x.const_data_ptr<scalar_t>(),
                          rotation.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>());
  });
  return y;
}

class RotateFunction : public torch::autograd::Function<RotateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, std::int64_t width,
                        const Tensor& rotation) {
    context->save_for_backward({rotation});
    context->saved_data["width"] = width;
    return rotated(x, width, rotation, /*inverse=*/false);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {rotated(gradients[0].contiguous(), context->saved_data["width"].toInt(),
                    context->get_saved_variables()[0], /*inverse=*/true),
            Tensor(), Tensor()};
  }
};

}  // namespace

Tensor rotate(const Tensor& x, std::int64_t width, const Tensor& rotation) {
  if (!rotation.defined()) return x;
  const auto [B, T, d] = std::tuple(x.size(0), x.size(1), rotation.size(1));
  const auto n = rotation.size(0);
  TORCH_CHECK(d % 2 == 0 && width % d == 0 && (n == T || (T == 1 && n == B)), "rotation: found ",
              rotation.sizes(), " for ", width, " columns of ", x.sizes(),
              ", expected an even divisor of the columns, for each position or each sentence");
  if (is_fused_on(x) || !x.is_cpu()) {
    const auto rows = x.contiguous(), angles = rotation.contiguous();
    if (torch::GradMode::is_enabled() && x.requires_grad()) {
      return RotateFunction::apply(rows, width, angles);
    }
    return rotated(rows, width, angles, /*inverse=*/false);
  }
  const auto of_rows = rotation.view({T == 1 ? -1 : 1, T, 1, d / 2, 2});
  const auto sin = of_rows.select(-1, 0), cos = of_rows.select(-1, 1);
  const auto pairs = x.narrow(2, 0, width).reshape({B, T, -1, d / 2, 2});
  const auto a = pairs.select(-1, 0), b = pairs.select(-1, 1);
  const auto y = torch::stack({a * cos - b * sin, a * sin + b * cos}, -1).view({B, T, width});
  return torch::cat({y, x.narrow(2, width, x.size(2) - width)}, 2);
}

Tensor rotate_composite(const Tensor& x, std::int64_t width, const Tensor& rotation, bool inverse) {
  const auto n = rotation.size(0), d = rotation.size(1);
  const auto cos_and_sin = rotation.view({n, d / 2, 2}).flip(-1);
  const auto factors = torch::view_as_complex(cos_and_sin).unsqueeze(1);  // e^{i t θ} [n, 1, d / 2]
  const auto y = x.clone(at::MemoryFormat::Contiguous);
  const auto pairs = torch::view_as_complex(y.narrow(2, 0, width).unflatten(2, {-1, d / 2, 2}));
  const auto of_rows = n == x.size(1) ? factors : factors.unsqueeze(1);
  pairs.mul_(inverse ? of_rows.conj() : of_rows);  // [B, T, H, d / 2]
  return y;
}

Tensor scaled_dot_product_weights(const Tensor& q, const Tensor& k, const Tensor& bias,
                                  bool causal) {
  auto e = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));  // [B, H, T, S]
  if (bias.defined()) e = e + bias;
  if (causal) {
    const auto later = torch::ones({q.size(2), k.size(2)}, q.options().dtype(torch::kBool)).triu(1);
    e = e.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  return e.softmax(-1);
}

HeadsAttended attend_heads(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths,
                           bool want_alpha, bool causal) {
  const auto B = q.size(0), H = q.size(1), T = q.size(2), d = q.size(3);
  HeadsAttended attended;
  attended.y = torch::empty({B, T, H * d}, q.options());
  if (want_alpha) attended.alpha = torch::empty({B, H, T, k.size(2)}, q.options());
  const auto y = attended.y.view({B, T, H, d}).transpose(1, 2);
  const auto sizes = sizes_of(q, k, lengths, causal);
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attend_heads", [&] {
    attend_heads<scalar_t>(sizes, static_cast<scalar_t>(scale_of(q)), heads_of<const scalar_t>(q),
                           heads_of<const scalar_t>(k), heads_of<const scalar_t>(v),
                           want_alpha ? attended.alpha.mutable_data_ptr<scalar_t>() : nullptr,
                           heads_of<scalar_t>(y));
  });
  return attended;
}

Tensor mean_over_heads(const Tensor& alpha) {
  auto sum = alpha.select(1, 0).clone(at::MemoryFormat::Contiguous);
  for (std::int64_t h = 1; h < alpha.size(1); ++h) sum.add_(alpha.select(1, h));
  return sum.div_(static_cast<double>(alpha.size(1)));
}

}  // namespace regard::kernels
