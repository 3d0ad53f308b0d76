#include "kernels/cross_entropy.h"

#include <torch/autograd.h>

#include <algorithm>

#include "kernels/device.h"
#include "kernels/function_rows.h"
#include "kernels/linear.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Rows are processed in pieces. The logits of a piece fit the last-level cache. But a piece has
// enough rows, even with a large vocabulary, that reading the weights and adding to their gradient
// once per piece costs little beside the products.
constexpr std::int64_t piece_bytes = 16 << 20;  // of logits, unless that is fewer than piece_rows
constexpr std::int64_t piece_rows = 128;

// Returns the number of rows per piece, so that the pieces of N rows have about equal size.
std::int64_t rows_in_piece(std::int64_t N, std::int64_t row_bytes) {
  const auto max_rows = std::max(piece_rows, piece_bytes / row_bytes);
  const auto pieces = std::max<std::int64_t>((N + max_rows - 1) / max_rows, 1);
  return (N + pieces - 1) / pieces;
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& rows, const Tensor& weight,
                             const Tensor& bias, const Tensor& targets, double label_smoothing,
                             bool with_gradient) {
    const auto N = rows.size(0);
    const auto V = weight.size(0);
    const auto piece = rows_in_piece(N, V * static_cast<std::int64_t>(rows.element_size()));
    auto d_rows = torch::empty_like(rows);
    auto d_weight = N > 0 ? torch::empty_like(weight) : torch::zeros_like(weight);
    auto d_bias = torch::zeros_like(bias);
    const auto buffer = torch::empty({piece, V}, rows.options());
    auto nll = torch::empty({N}, rows.options().dtype(torch::kDouble));
    double loss = 0;
    for (std::int64_t begin = 0; begin < N; begin += piece) {
      const auto n = std::min(piece, N - begin);
      const auto these = rows.narrow(0, begin, n);
      auto logits = buffer.narrow(0, 0, n);  // [n, V], without their bias
      weight_product_into(logits, these, weight.t());
      AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "linear_cross_entropy", [&] {
        loss += cross_entropy_rows<scalar_t>(
            n, V, logits.mutable_data_ptr<scalar_t>(), bias.const_data_ptr<scalar_t>(),
            targets.const_data_ptr<std::int64_t>() + begin, label_smoothing,
            with_gradient ? d_bias.mutable_data_ptr<scalar_t>() : nullptr,
            nll.mutable_data_ptr<double>() + begin);
      });
      if (!with_gradient) continue;
      auto d_these = d_rows.narrow(0, begin, n);
      weight_product_into(d_these, logits, weight);
      matrix_product_into(d_weight, logits.t(), these, /*add=*/begin > 0);
    }
    context->save_for_backward({d_rows, d_weight, d_bias});
    context->mark_non_differentiable({nll});
    return {torch::tensor(loss, torch::kDouble).to(rows.scalar_type()), nll};
  }

  // The loss is a scalar: its gradient multiplies the gradients that forward() computed, in place.
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    auto saved = context->get_saved_variables();
    const auto factor = gradients[0].item<double>();
    if (factor != 1) {
      for (auto& gradient : saved) gradient.mul_(factor);
    }
    return {saved[0], saved[1], saved[2], Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

CrossEntropy linear_cross_entropy(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                                  const Tensor& targets, double label_smoothing) {
  if (!is_fused_on(rows)) {
    return linear_cross_entropy_reference(rows, weight, bias, targets, label_smoothing);
  }
  const bool with_gradient =
      torch::GradMode::is_enabled() &&
      (rows.requires_grad() || weight.requires_grad() || bias.requires_grad());
  const auto outputs =
      CrossEntropyFunction::apply(rows.contiguous(), weight.contiguous(), bias.contiguous(),
                                  targets.contiguous(), label_smoothing, with_gradient);
  return {outputs[0], outputs[1]};
}

CrossEntropy linear_cross_entropy_reference(const Tensor& rows, const Tensor& weight,
                                            const Tensor& bias, const Tensor& targets,
                                            double label_smoothing) {
  const auto log_p = kernels::linear(rows, weight, bias).log_softmax(-1);  // [N, V]
  const auto nll = -log_p.gather(1, targets.unsqueeze(1)).squeeze(1);      // [N]
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto uniform = -log_p.sum() / log_p.size(1);
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  return {loss, nll.detach().to(torch::kDouble)};
}

}  // namespace regard::kernels
