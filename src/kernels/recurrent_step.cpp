// One step of a recurrent cell, the reference implementation of all steps, and the recurrence of
// LibTorch.
#include "kernels/functions.h"
#include "kernels/linear.h"
#include "kernels/loops/cells.h"
#include "kernels/mode.h"
#include "kernels/recurrence.h"

namespace regard::kernels {
namespace {

using torch::Tensor;

Tensor gru_step_reference(const Tensor& x, const Tensor& s, const RecurrentWeights& cell) {
  const auto D = s.size(1);
  const auto x_rz = x.narrow(1, 0, 2 * D);
  const auto x_candidate = x.narrow(1, 2 * D, D);
  if (cell.form == CellForm::gru_reset_after) {
    const auto u = product(s, cell.U);  // [B, 3D]
    const auto gates = (x_rz + u.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
    const auto candidate = (x_candidate + gates[0] * (u.narrow(1, 2 * D, D) + cell.b_U)).tanh();
    return torch::lerp(candidate, s, gates[1]);
  }
  const auto gates = add_product(x_rz, s, cell.U.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
  const auto candidate = add_product(x_candidate, gates[0] * s, cell.U.narrow(1, 2 * D, D)).tanh();
  return torch::lerp(candidate, s, gates[1]);  // z ⊙ s + (1 − z) ⊙ s̃
}

Tensor lstm_step_reference(const Tensor& x, const Tensor& s, const Tensor& U) {
  const auto D = U.size(0);
  const auto gates = add_product(x, s.narrow(1, 0, D), U);                    // [B, 4D]
  const auto open = kernels::sigmoid(gates.narrow(1, 0, 3 * D)).chunk(3, 1);  // i, f, o
  const auto candidate = kernels::tanh(gates.narrow(1, 3 * D, D));
  const auto c = open[1] * s.narrow(1, D, D) + open[0] * candidate;
  return torch::cat({open[2] * kernels::tanh(c), c}, 1);
}

template <typename T>
void gru_before_step(const Tensor& x, const Tensor& s, const Tensor& U, const Tensor& gates,
                     const Tensor& next) {
  const auto B = s.size(0);
  const auto D = s.size(1);
  const auto u = product(s, U.narrow(1, 0, 2 * D));  // [B, 2D]
  const auto reset = torch::empty_like(s);           // r ⊙ s
  gru_before_reset<T>(B, D, x.const_data_ptr<T>(), {u.const_data_ptr<T>(), 2 * D},
                      s.const_data_ptr<T>(), gates.mutable_data_ptr<T>(),
                      reset.mutable_data_ptr<T>());
  const auto v = product(reset, U.narrow(1, 2 * D, D));  // [B, D]
  gru_before_candidate<T>(B, D, x.const_data_ptr<T>(), v.const_data_ptr<T>(), s.const_data_ptr<T>(),
                          gates.mutable_data_ptr<T>(), next.mutable_data_ptr<T>());
}

}  // namespace

bool can_fuse_steps(const Tensor& x) {
  return !in_search(x);
}

Tensor recurrent_step(const Tensor& x, const Tensor& s, const RecurrentWeights& cell) {
  if (!in_search(cell.U)) return recurrent_step_reference(x, s, cell);
  const auto B = s.size(0);
  const auto D = cell.U.size(0);
  const auto input = x.contiguous();
  const auto gates = torch::empty_like(input);
  if (cell.form == CellForm::lstm) {
    const auto halves = s.reshape({B, 2, D}).transpose(0, 1).contiguous();  // h, c
    const auto next = torch::empty_like(halves);
    const auto u = product(halves[0], cell.U);  // [B, 4D]
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "lstm_step", [&] {
      lstm<scalar_t>(B, D, input.const_data_ptr<scalar_t>(), {u.const_data_ptr<scalar_t>(), 4 * D},
                     halves[1].const_data_ptr<scalar_t>(), gates.mutable_data_ptr<scalar_t>(),
                     next[1].mutable_data_ptr<scalar_t>(), next[0].mutable_data_ptr<scalar_t>());
    });
    return next.transpose(0, 1).reshape({B, 2 * D});
  }
  const auto last = s.contiguous();
  const auto next = torch::empty({B, D}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "recurrent_step", [&] {
    using T = scalar_t;
    if (cell.form == CellForm::gru_reset_before) {
      gru_before_step<T>(input, last, cell.U, gates, next);
      return;
    }
    const auto u = product(last, cell.U);  // [B, K · D]
    const Strided<const T> u_rows = {u.const_data_ptr<T>(), u.size(1)};
    if (cell.form == CellForm::gru_reset_after) {
      gru_after<T>(B, D, input.const_data_ptr<T>(), u_rows, cell.b_U.const_data_ptr<T>(),
                   last.const_data_ptr<T>(), gates.mutable_data_ptr<T>(),
                   next.mutable_data_ptr<T>());
    } else {
      tanh_cell<T>(B, D, input.const_data_ptr<T>(), u_rows, next.mutable_data_ptr<T>());
    }
  });
  return next;
}

Tensor recurrent_step_reference(const Tensor& x, const Tensor& s, const RecurrentWeights& cell) {
  switch (cell.form) {
    case CellForm::lstm:
      return lstm_step_reference(x, s, cell.U);
    case CellForm::tanh:
      return kernels::tanh(add_product(x, s, cell.U));
    default:
      return gru_step_reference(x, s, cell);
  }
}

Recurrence recurrence_reference(const Tensor& x, const Tensor& first, const RecurrentWeights& cell,
                                const std::optional<LoopAttention>& attention,
                                const RecurrentWeights* first_cell) {
  const auto D = cell.U.size(0);
  std::vector<Tensor> outputs;
  std::vector<Tensor> weights;
  std::vector<Tensor> memories;
  auto s = first;
  for (auto x_t : x.unbind(0)) {
    if (first_cell) {
      s = recurrent_step_reference(x_t, s, *first_cell);
      x_t = torch::zeros_like(x_t);
    }
    if (attention) {
      weights.push_back(attention_weights_reference(attention->score, s.narrow(1, 0, D)));
      x_t = x_t + weights.back().unsqueeze(1).bmm(attention->mixed).squeeze(1);
    }
    s = recurrent_step_reference(x_t, s, cell);
    outputs.push_back(s.narrow(1, 0, D));
    if (cell.form == CellForm::lstm) memories.push_back(s.narrow(1, D, D));
  }
  return {torch::stack(outputs), attention ? torch::stack(weights) : Tensor(),
          memories.empty() ? Tensor() : torch::stack(memories)};
}

Tensor recurrence_of_library(const Tensor& x, const Tensor& W, const Tensor& b,
                             const RecurrentWeights& cells) {
  const auto D = cells.U.size(1);
  // The order of the gates of an LSTM is i, f, c̃, o in LibTorch.
  const auto in_order = [&](const Tensor& gates) {  // [..., K · D]
    if (cells.form != CellForm::lstm) return gates;
    const auto parts = gates.split(D, -1);
    return torch::cat({parts[0], parts[1], parts[3], parts[2]}, -1);
  };
  const auto W_t = in_order(W).transpose(1, 2);        // [G, K · D, I]
  const auto U_t = in_order(cells.U).transpose(1, 2);  // [G, K · D, D]
  const auto all_b = in_order(b).flatten(1);           // [G, K · D]
  auto b_U = torch::zeros_like(all_b);
  if (cells.b_U.defined()) {
    b_U = torch::cat({b_U.narrow(1, 0, 2 * D), cells.b_U.flatten(1)}, 1);
  }
  const auto zero = x.new_zeros({1, x.size(2), D});
  const bool train = torch::GradMode::is_enabled();
  std::vector<Tensor> outputs;
  // cuDNN wants all weights of a cell in one piece of memory.
  const auto flat = torch::cat({W_t.flatten(1), U_t.flatten(1), all_b, b_U}, 1).unbind(0);
  const auto inputs = x.unbind(0);
  for (std::size_t g = 0; g < inputs.size(); ++g) {
    const auto K_D = all_b.size(1);
    auto weights = flat[g].split_with_sizes({K_D * x.size(3), K_D * D, K_D, K_D});
    weights[0] = weights[0].view({K_D, -1});
    weights[1] = weights[1].view({K_D, D});
    outputs.push_back(cells.form == CellForm::lstm
                          ? std::get<0>(at::lstm(inputs[g], {zero, zero}, weights, true, 1, 0,
                                                 train, /*bidirectional=*/false,
                                                 /*batch_first=*/false))
                          : std::get<0>(at::gru(inputs[g], zero, weights, true, 1, 0, train,
                                                /*bidirectional=*/false, /*batch_first=*/false)));
  }
  return torch::stack(outputs);
}

bool has_recurrence_of_library(const Tensor& x, CellForm form) {
  return !x.is_cpu() && (form == CellForm::gru_reset_after || form == CellForm::lstm) &&
         !has_bf16_reference_products(x);
}

}  // namespace regard::kernels
