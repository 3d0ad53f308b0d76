#include "kernels/cross_entropy.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/autograd.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <vector>

#include "kernels/copy_mixture.h"
#include "kernels/device.h"
#include "kernels/gradient_factors.h"
#include "kernels/linear.h"
#include "kernels/loops/losses.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "kernels/row_operators.h"

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

// On other devices than the CPU, few large pieces: a launch costs more than memory that is far
// away.
constexpr std::int64_t device_piece_bytes = std::int64_t{256} << 20;

// Sums, and the gradient of the loss.
struct ComputedLoss {
  Tensor loss, nll, d_rows, d_weight, d_bias;
};

// For each row with target y:
//
//   loss = −(1 − ε) log p_y − ε / V Σ_k log p_k      d_logit_k = p_k − (1 − ε) [k = y] − ε / V
ComputedLoss compute_in_pieces(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                               const Tensor& targets, double label_smoothing, bool with_gradient,
                               std::int64_t piece, const std::optional<Tensor>& ignored) {
  const auto N = rows.size(0);
  const auto V = weight.size(0);
  ComputedLoss all;
  all.loss = torch::zeros({}, rows.options());
  std::vector<Tensor> nll, d_rows;
  for (std::int64_t begin = 0; begin < N; begin += piece) {
    const auto these = rows.narrow(0, begin, std::min(piece, N - begin));
    const auto y = targets.narrow(0, begin, these.size(0)).unsqueeze(1);
    const auto add_products = [&](Tensor d_logits, const Tensor& d_bias) {
      if (has_bf16_reference_products(these)) d_logits = d_logits.to(torch::kBFloat16);  // once
      d_rows.push_back(matrix_product(d_logits, weight));
      const auto d_weight = matrix_product(d_logits.t(), these);
      all.d_weight = begin == 0 ? d_weight : all.d_weight.add_(d_weight);
      all.d_bias = begin == 0 ? d_bias : all.d_bias.add_(d_bias);
    };
    if (has_kernel_operators(these)) {
      const auto logits = kernels::linear(these, weight);  // [n, V], without their bias
      const auto of_piece = row_operators::cross_entropy(
          logits, bias, y.squeeze(1), ignored ? ignored->narrow(0, begin, these.size(0)) : Tensor(),
          label_smoothing, with_gradient);
      all.loss.add_(of_piece.loss);
      nll.push_back(of_piece.nll);
      if (with_gradient) add_products(logits, of_piece.d_bias);
      continue;
    }
    const auto log_p = kernels::linear(these, weight, bias).log_softmax(-1);  // [n, V]
    if (ignored) log_p.masked_fill_(ignored->narrow(0, begin, these.size(0)).unsqueeze(1), 0);
    nll.push_back(log_p.gather(1, y).squeeze(1).neg_());
    all.loss.add_(nll.back().sum(), 1 - label_smoothing);
    if (label_smoothing > 0) {
      all.loss.sub_(log_p.sum(), label_smoothing / static_cast<double>(V));
    }
    if (!with_gradient) continue;
    auto d_logits = log_p.exp();
    if (label_smoothing > 0) d_logits.sub_(label_smoothing / static_cast<double>(V));
    d_logits.scatter_add_(1, y, torch::full_like(y, label_smoothing - 1, rows.options()));
    if (ignored) d_logits.masked_fill_(ignored->narrow(0, begin, these.size(0)).unsqueeze(1), 0);
    add_products(d_logits, d_logits.sum(0));
  }
  if (N == 0)
    return {all.loss, torch::zeros({0}, rows.options()), torch::zeros_like(rows),
            torch::zeros_like(weight), torch::zeros_like(bias)};
  all.nll = nll.size() == 1 ? nll[0] : torch::cat(nll);
  if (with_gradient) all.d_rows = d_rows.size() == 1 ? d_rows[0] : torch::cat(d_rows);
  return all;
}

// The function for other devices than the CPU: few operations of LibTorch.
class CompositeLoss : public torch::autograd::Function<CompositeLoss> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& rows, const Tensor& weight,
                             const Tensor& bias, const Tensor& targets, double label_smoothing,
                             bool with_gradient, std::int64_t piece,
                             const std::optional<Tensor>& ignored) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto all = compute_in_pieces(rows, weight, bias, targets, label_smoothing, with_gradient,
                                       piece, ignored);
    context->save_for_backward({all.d_rows, all.d_weight, all.d_bias});
    const auto nll = all.nll.to(torch::kDouble);
    context->mark_non_differentiable({nll});
    return {all.loss, nll};
  }

  // As CrossEntropyFunction::backward(), without waiting for the factor.
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    auto saved = context->get_saved_variables();
    at::_foreach_mul_(saved, gradients[0]);
    tensor_list all = {saved[0], saved[1], saved[2]};
    all.resize(8);
    return all;
  }
};

bool wants_gradient(at::TensorList inputs) {
  return torch::GradMode::is_enabled() &&
         std::ranges::any_of(inputs, [](const Tensor& x) { return x.requires_grad(); });
}

// The fused loss of rows on the CPU, and the tensors that its backward pass needs.
struct FusedLoss {
  double loss = 0;
  Tensor d_rows = {}, d_weight = {}, d_bias = {};
  // The gradient of the logits of a single piece is kept in place of d_weight, as a factor of it.
  Tensor d_logits = {};

  // Saves them, with further gradients.
  void save(AutogradContext* context, const Tensor& rows, const Tensor& weight,
            std::initializer_list<Tensor> more = {}) const {
    const bool keeps_logits = d_logits.defined();
    tensor_list all = {keeps_logits ? weight : Tensor(),
                       keeps_logits ? rows : Tensor(),
                       d_logits,
                       d_rows,
                       d_weight,
                       d_bias};
    all.insert(all.end(), more);
    context->save_for_backward(all);
  }

  // Returns the gradients of `count` arguments: rows, weight and bias, those that were given to
  // save(), and none of the others. The loss is a scalar: its gradient multiplies them, in place.
  static tensor_list gradients(AutogradContext* context, const Tensor& d_loss, std::size_t count) {
    const auto saved = context->get_saved_variables();
    const auto& [weight, rows, d_logits] = std::tie(saved[0], saved[1], saved[2]);
    tensor_list result(saved.begin() + 3, saved.end());
    const auto factor = d_loss.item<double>();
    if (factor != 1) {
      for (auto& gradient : result) {
        if (gradient.defined()) gradient.mul_(factor);
      }
    }
    if (d_logits.defined() && context->needs_input_grad(1)) {
      result[1] = weight_gradient(weight, d_logits, factor == 1 ? rows : rows * factor);
    }
    result.resize(count);
    return result;
  }
};

// Computes the loss of rows, or of pairs of rows (sides = 2), in pieces. row_loss(begin, n, logits,
// d_bias) returns the loss of n rows or pairs and, if d_bias is not null, replaces their logits,
// without bias, [sides, ≥ n, V] by its gradient and adds to d_bias.
template <typename T, typename RowLoss>
FusedLoss compute_fused(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                        std::int64_t sides, bool with_gradient, const RowLoss& row_loss) {
  const auto N = rows.size(0) / sides;
  const auto V = weight.size(0);
  const auto piece = rows_in_piece(N, sides * V * static_cast<std::int64_t>(rows.element_size()));
  FusedLoss all = {.d_rows = torch::empty_like(rows), .d_bias = torch::zeros_like(bias)};
  const auto* factors = gradient_factors();
  const bool keeps_logits = sides == 1 && with_gradient && N > 0 && piece == N &&
                            factors != nullptr && factors->takes_product(weight, N);
  if (!keeps_logits) all.d_weight = N > 0 ? torch::empty_like(weight) : torch::zeros_like(weight);
  const auto buffer = torch::empty({sides, piece, V}, rows.options());
  if (keeps_logits) all.d_logits = buffer[0];
  auto* d_bias = with_gradient ? all.d_bias.mutable_data_ptr<T>() : nullptr;
  for (std::int64_t begin = 0; begin < N; begin += piece) {
    const auto n = std::min(piece, N - begin);
    const auto piece_of = [&](const Tensor& of_all, std::int64_t side) {
      return of_all.narrow(0, side * N + begin, n);
    };
    for (std::int64_t side = 0; side < sides; ++side) {
      linear_into(buffer[side].narrow(0, 0, n), piece_of(rows, side), weight.t());
    }
    all.loss += row_loss(begin, n, buffer, d_bias);
    if (!with_gradient) continue;
    for (std::int64_t side = 0; side < sides; ++side) {
      const auto d_logits = buffer[side].narrow(0, 0, n);
      linear_into(piece_of(all.d_rows, side), d_logits, weight);
      if (keeps_logits) continue;
      matrix_product_into(all.d_weight, d_logits.t(), piece_of(rows, side),
                          /*add=*/begin > 0 || side > 0);
    }
  }
  return all;
}

tensor_list outputs_of(AutogradContext* context, double loss, const Tensor& nll,
                       torch::ScalarType type) {
  context->mark_non_differentiable({nll});
  return {torch::tensor(loss, torch::kDouble).to(type), nll};
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& rows, const Tensor& weight,
                             const Tensor& bias, const Tensor& targets, double label_smoothing,
                             double consistency, bool with_gradient) {
    const std::int64_t sides = consistency > 0 ? 2 : 1;  // the rows of a pair
    const auto V = weight.size(0);
    const auto scratch = torch::empty({sides > 1 ? 2 * V : 0}, rows.options());
    const auto nll = torch::empty({rows.size(0)}, rows.options().dtype(torch::kDouble));
    FusedLoss all;
    AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "linear_cross_entropy", [&] {
      const auto* b = bias.const_data_ptr<scalar_t>();
      all = compute_fused<scalar_t>(
          rows, weight, bias, sides, with_gradient,
          [&](std::int64_t begin, std::int64_t n, const Tensor& buffer, scalar_t* d_b) {
            auto* logits = buffer.mutable_data_ptr<scalar_t>();
            const auto* y = targets.const_data_ptr<std::int64_t>() + begin;
            auto* of_rows = nll.mutable_data_ptr<double>() + begin;
            return sides == 1
                       ? cross_entropy_rows<scalar_t>(n, V, logits, b, y, label_smoothing, d_b,
                                                      of_rows)
                       : consistent_cross_entropy_rows<scalar_t>(
                             n, V, logits, buffer[1].mutable_data_ptr<scalar_t>(), b, y,
                             label_smoothing, consistency, d_b, of_rows, of_rows + rows.size(0) / 2,
                             scratch.mutable_data_ptr<scalar_t>());
          });
    });
    all.save(context, rows, weight);
    return outputs_of(context, all.loss, nll, rows.scalar_type());
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return FusedLoss::gradients(context, gradients[0], 7);
  }
};

class CopyCrossEntropyFunction : public torch::autograd::Function<CopyCrossEntropyFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& rows, const Tensor& weight,
                             const Tensor& bias, const Tensor& gate, const Tensor& weights,
                             const Tensor& ids, const Tensor& targets, double label_smoothing,
                             bool with_gradient) {
    const auto V = weight.size(0), S = ids.size(1);
    const auto d_gate = torch::empty_like(gate), d_weights = torch::empty_like(weights);
    const auto scratch = torch::zeros({V + 2 * S}, rows.options());
    const auto nll = torch::empty({rows.size(0)}, rows.options().dtype(torch::kDouble));
    FusedLoss all;
    AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "copy_cross_entropy", [&] {
      const auto* b = bias.const_data_ptr<scalar_t>();
      all = compute_fused<scalar_t>(
          rows, weight, bias, /*sides=*/1, with_gradient,
          [&](std::int64_t begin, std::int64_t n, const Tensor& buffer, scalar_t* d_b) {
            return copy_cross_entropy_rows<scalar_t>(
                n, V, buffer.mutable_data_ptr<scalar_t>(), b,
                targets.const_data_ptr<std::int64_t>() + begin,
                {.S = S,
                 .gate = gate.const_data_ptr<scalar_t>() + begin,
                 .weights = weights.const_data_ptr<scalar_t>() + begin * S,
                 .ids = ids.const_data_ptr<std::int64_t>() + begin * S,
                 .d_gate = d_gate.mutable_data_ptr<scalar_t>() + begin,
                 .d_weights = d_weights.mutable_data_ptr<scalar_t>() + begin * S,
                 .scratch = scratch.mutable_data_ptr<scalar_t>()},
                label_smoothing, d_b, nll.mutable_data_ptr<double>() + begin);
          });
    });
    all.save(context, rows, weight, {d_gate, d_weights});
    return outputs_of(context, all.loss, nll, rows.scalar_type());
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return FusedLoss::gradients(context, gradients[0], 9);
  }
};

// −log P of each row. The backward pass repeats the products of the forward pass, because the
// gradient of each row is known only then.
class NllFunction : public torch::autograd::Function<NllFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& weight,
                        const Tensor& bias, const Tensor& targets, bool fused, std::int64_t piece) {
    const bool is_bf16 = has_bf16_reference_products(rows);
    const Pieces pieces{rows, weight, bias, targets, fused, is_bf16, piece};
    auto nll = torch::empty({rows.size(0)}, rows.options().dtype(torch::kDouble));
    for (std::int64_t begin = 0; begin < rows.size(0); begin += piece) {
      pieces.compute(begin, nll, /*with_gradient=*/false);
    }
    context->save_for_backward({rows, weight, bias, targets});
    context->saved_data["fused"] = fused;
    context->saved_data["is_bf16"] = is_bf16;  // a device has a thread of its own for backward()
    context->saved_data["piece"] = piece;
    return nll;
  }

  // d loss / d logit_ik = (p_ik − [k = y_i]) d loss / d nll_i
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [rows, weight] = std::tie(saved[0], saved[1]);
    const auto& data = context->saved_data;
    const auto piece = data.at("piece").toInt();
    const Pieces pieces{
        rows, weight, saved[2], saved[3], data.at("fused").toBool(), data.at("is_bf16").toBool(),
        piece};
    const auto N = rows.size(0);
    const auto d_nll = gradients[0].to(rows.dtype()).unsqueeze(1);  // [N, 1]
    auto nll = torch::empty({N}, rows.options().dtype(torch::kDouble));
    auto d_rows = torch::empty_like(rows);
    auto d_weight = N > 0 ? torch::empty_like(weight) : torch::zeros_like(weight);
    auto d_bias = torch::zeros_like(saved[2]);
    for (std::int64_t begin = 0; begin < N; begin += piece) {
      auto d_logits = pieces.compute(begin, nll, /*with_gradient=*/true);  // [n, V]
      const auto n = d_logits.size(0);
      d_logits.mul_(d_nll.narrow(0, begin, n));
      d_bias.add_(d_logits.sum(0));
      pieces.multiply(begin, d_logits, d_rows, d_weight);
    }
    return {d_rows, d_weight, d_bias, Tensor(), Tensor(), Tensor()};
  }

 private:
  struct Pieces {
    const Tensor& rows;
    const Tensor& weight;
    const Tensor& bias;
    const Tensor& targets;
    bool fused, is_bf16;
    std::int64_t piece;
    Tensor factor = is_bf16 ? weight.to(torch::kBFloat16) : weight;  // unless fused
    // Memory for one piece, if fused.
    Tensor buffer = fused ? torch::empty({piece, weight.size(0)}, rows.options()) : Tensor();
    Tensor scratch = fused ? torch::empty_like(bias) : Tensor();

    // Writes −log P of the rows from `begin` to nll. Returns softmax(logits) − one-hot(targets)
    // [n, V] if wanted.
    Tensor compute(std::int64_t begin, const Tensor& nll, bool with_gradient) const {
      const auto n = std::min(piece, rows.size(0) - begin);
      const auto V = weight.size(0);
      const auto these = rows.narrow(0, begin, n);
      if (!fused) {
        const auto y = targets.narrow(0, begin, n).unsqueeze(1);
        auto log_p = is_bf16 ? bf16_reference_product(these, factor.t()) + bias
                             : kernels::linear(these, factor, bias);
        log_p = log_p.log_softmax(-1);  // [n, V]
        nll.narrow(0, begin, n).copy_(log_p.gather(1, y).squeeze(1).neg_());
        if (!with_gradient) return {};
        return log_p.exp_().scatter_add_(1, y, torch::full_like(y, -1, rows.options()));
      }
      auto logits = buffer.narrow(0, 0, n);  // without their bias
      linear_into(logits, these, weight.t());
      AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "linear_nll", [&] {
        cross_entropy_rows<scalar_t>(
            n, V, logits.mutable_data_ptr<scalar_t>(), bias.const_data_ptr<scalar_t>(),
            targets.const_data_ptr<std::int64_t>() + begin,
            /*label_smoothing=*/0, with_gradient ? scratch.mutable_data_ptr<scalar_t>() : nullptr,
            nll.mutable_data_ptr<double>() + begin);
      });
      return logits;
    }

    // Writes d_logits W to the rows of d_rows, and adds d_logitsᵀ rows to d_weight.
    void multiply(std::int64_t begin, const Tensor& d_logits, const Tensor& d_rows,
                  const Tensor& d_weight) const {
      const auto these = rows.narrow(0, begin, d_logits.size(0));
      const auto d_these = d_rows.narrow(0, begin, d_logits.size(0));
      if (fused) {
        linear_into(d_these, d_logits, weight);
        matrix_product_into(d_weight, d_logits.t(), these, /*add=*/begin > 0);
        return;
      }
      const auto d = is_bf16 ? d_logits.to(torch::kBFloat16) : d_logits;
      d_these.copy_(matrix_product(d, factor));
      const auto product = matrix_product(d.t(), these);
      if (begin == 0) {
        d_weight.copy_(product);
      } else {
        d_weight.add_(product);
      }
    }
  };
};

}  // namespace

CrossEntropy linear_cross_entropy(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                                  const Tensor& targets, double label_smoothing, double consistency,
                                  const Tensor& ignored) {
  TORCH_CHECK(!ignored.defined() || consistency == 0, "pairs of rows cannot be ignored");
  if ((!rows.is_cpu() && consistency == 0) || ignored.defined()) {
    const auto row_bytes = weight.size(0) * static_cast<std::int64_t>(rows.element_size());
    return linear_cross_entropy_composite(rows, weight, bias, targets, label_smoothing,
                                          std::max<std::int64_t>(1, device_piece_bytes / row_bytes),
                                          ignored);
  }
  if (!rows.is_cpu() || !is_fused_on(rows)) {
    return linear_cross_entropy_reference(rows, weight, bias, targets, label_smoothing,
                                          consistency);
  }
  const bool with_gradient = wants_gradient({rows, weight, bias});
  const auto outputs = CrossEntropyFunction::apply(rows.contiguous(), weight.contiguous(),
                                                   bias.contiguous(), targets.contiguous(),
                                                   label_smoothing, consistency, with_gradient);
  return {outputs[0], outputs[1]};
}

CrossEntropy linear_cross_entropy_composite(const Tensor& rows, const Tensor& weight,
                                            const Tensor& bias, const Tensor& targets,
                                            double label_smoothing, std::int64_t piece,
                                            const Tensor& ignored) {
  const auto outputs = CompositeLoss::apply(
      rows, weight, bias, targets, label_smoothing, wants_gradient({rows, weight, bias}), piece,
      ignored.defined() ? std::optional(ignored) : std::nullopt);
  return {outputs[0], outputs[1]};
}

CrossEntropy linear_cross_entropy_reference(const Tensor& rows, const Tensor& weight,
                                            const Tensor& bias, const Tensor& targets,
                                            double label_smoothing, double consistency) {
  const auto log_p = kernels::linear(rows, weight, bias).log_softmax(-1);  // [N, V]
  const auto nll = -log_p.gather(1, targets.unsqueeze(1)).squeeze(1);      // [N]
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto uniform = -log_p.sum() / log_p.size(1);
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  if (consistency > 0) {
    const auto halves = log_p.view({2, rows.size(0) / 2, -1});
    const auto difference = halves[0] - halves[1];
    loss = loss + consistency * ((halves[0].exp() - halves[1].exp()) * difference).sum();
  }
  return {loss, nll.detach().to(torch::kDouble)};
}

CrossEntropy copy_cross_entropy(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                                const Tensor& targets, const Copies& copies, double label_smoothing,
                                const Tensor& ignored) {
  if (!is_fused_on(rows) || ignored.defined()) {
    return copy_cross_entropy_reference(rows, weight, bias, targets, copies, label_smoothing,
                                        ignored);
  }
  const auto& [gate, weights, ids] = copies;
  const auto outputs = CopyCrossEntropyFunction::apply(
      rows.contiguous(), weight.contiguous(), bias.contiguous(), gate.contiguous(),
      weights.contiguous(), ids.contiguous(), targets.contiguous(), label_smoothing,
      wants_gradient({rows, weight, bias, gate, weights}));
  return {outputs[0], outputs[1]};
}

CrossEntropy copy_cross_entropy_reference(const Tensor& rows, const Tensor& weight,
                                          const Tensor& bias, const Tensor& targets,
                                          const Copies& copies, double label_smoothing,
                                          const Tensor& ignored) {
  const auto V = weight.size(0);
  const auto log_p = kernels::linear(rows, weight, bias).log_softmax(-1);  // [N, V]
  const auto of_targets = log_p.gather(1, targets.masked_fill(targets >= V, 0).unsqueeze(1));
  const auto without_ignored = [&](const Tensor& x) {
    if (!ignored.defined()) return x;
    return x.masked_fill(x.dim() == 1 ? ignored : ignored.unsqueeze(1), 0);
  };
  const auto nll = without_ignored(copy_nll(-of_targets.squeeze(1), targets, V, copies));
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto uniform = -without_ignored(copy_log_p(log_p, copies)).sum() / V;
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  return {loss, nll.detach().to(torch::kDouble)};
}

Tensor linear_nll(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                  const Tensor& targets) {
  const auto row_bytes = weight.size(0) * static_cast<std::int64_t>(rows.element_size());
  if (!rows.is_cpu()) {
    return linear_nll_composite(rows, weight, bias, targets,
                                std::max<std::int64_t>(1, device_piece_bytes / row_bytes));
  }
  if (!is_fused_on(rows)) return linear_nll_reference(rows, weight, bias, targets);
  return NllFunction::apply(rows.contiguous(), weight.contiguous(), bias.contiguous(),
                            targets.contiguous(), /*fused=*/true,
                            rows_in_piece(rows.size(0), row_bytes));
}

Tensor linear_nll_composite(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                            const Tensor& targets, std::int64_t piece) {
  return NllFunction::apply(rows, weight, bias, targets, /*fused=*/false, piece);
}

Tensor linear_nll_reference(const Tensor& rows, const Tensor& weight, const Tensor& bias,
                            const Tensor& targets) {
  const auto log_p = kernels::linear(rows, weight, bias).log_softmax(-1);  // [N, V]
  return -log_p.gather(1, targets.unsqueeze(1)).squeeze(1).to(torch::kDouble);
}

}  // namespace regard::kernels
