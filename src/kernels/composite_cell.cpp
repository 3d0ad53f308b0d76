#include "kernels/composite_cell.h"

#include <tuple>
#include <utility>
#include <vector>

#include "kernels/packed_weights.h"

namespace regard::kernels {

using torch::Tensor;

namespace {

// Σ over time and batch: a [T, G, B, K], b [T, G, B, N] -> Σ aᵀ b [G, K, N]
Tensor sum_of_products(const Tensor& a, const Tensor& b, bool is_bf16) {
  const auto rows = [](const Tensor& x) {  // [G, T · B, ·]
    return x.transpose(0, 1).flatten(1, 2);
  };
  const auto a_t = rows(a).transpose(1, 2);
  return is_bf16 ? bf16_reference_product(a_t, rows(b)) : a_t.bmm(rows(b));
}

}  // namespace

CompositeCellTape make_composite_cell_tape(CellForm form, const Tensor& U, const Tensor& x) {
  CompositeCellTape tape;
  tape.U = U;
  tape.gates = x;
  if (form == CellForm::gru_reset_before || form == CellForm::gru_reset_after) {
    tape.product = torch::empty({x.size(0), x.size(1), x.size(2), U.size(1)}, x.options());
  }
  return tape;
}

CompositeCellSteps::Factor::Factor(const Tensor& W, bool is_bf16)
    : W_(is_bf16 ? W.to(torch::kBFloat16) : W), is_bf16_(is_bf16) {}

Tensor CompositeCellSteps::Factor::multiply(const Tensor& x) const {
  return is_bf16_ ? bf16_reference_product(x, W_) : x.bmm(W_);
}

void CompositeCellSteps::Factor::add_to(const Tensor& y, const Tensor& x) const {
  if (is_bf16_) {
    y.add_(bf16_reference_product(x, W_));
  } else {
    y.baddbmm_(x, W_);
  }
}

void CompositeCellSteps::begin_forward(const Tensor& b_U, const Tensor& W) {
  const bool has_two_products =
      has_kernels_ ? form_ == CellForm::gru_reset_before : has_candidate();
  const auto U = has_two_products ? tape_.U.narrow(2, 0, 2 * D_) : tape_.U;
  if (has_two_products) U_candidate_ = Factor(tape_.U.narrow(2, 2 * D_, D_), is_bf16_);
  if (has_kernels_) {
    A_ = W.defined() ? W.size(0) : 0;
    U_ = Factor(A_ > 0 ? torch::cat({W.t().unsqueeze(0), U}, 2) : U, is_bf16_);
    if (b_U.defined()) b_U_ = b_U.contiguous();
  } else {
    U_ = Factor(U, is_bf16_);
    if (b_U.defined()) tape_.product.copy_(b_U.expand_as(tape_.product[0]).unsqueeze(0));
  }
}

void CompositeCellSteps::multiply(std::int64_t t) {
  if (!has_kernels_) return;
  u_ = U_.multiply(states_.before[t]);
  if (A_ == 0) return;
  queries_.push_back(u_[0].narrow(1, 0, A_));
  u_ = u_.narrow(2, A_, u_.size(2) - A_);
}

loop_operators::CellStep CompositeCellSteps::step(std::int64_t t) const {
  const auto at = [&](const Tensor& x) { return x.defined() ? x[t] : x; };
  return {tape_.gates[t],
          b_U_,
          states_.before[t],
          at(tape_.product),
          at(states_.memory_before),
          at(states_.memory_after),
          states_.after[t]};
}

void CompositeCellSteps::run_forward(std::int64_t t) const {
  using enum loop_operators::CellPart;
  const auto of_step = step(t);
  switch (form_) {
    case CellForm::gru_reset_before:
      cell_forward(gru_before_reset, of_step, u_);
      cell_forward(gru_before_candidate, of_step, U_candidate_.multiply(of_step.product));
      break;
    case CellForm::gru_reset_after:
      cell_forward(gru_after, of_step, u_);
      break;
    case CellForm::lstm:
      cell_forward(lstm, of_step, u_);
      break;
    case CellForm::tanh:
      cell_forward(tanh, of_step, u_);
      break;
  }
}

void CompositeCellSteps::run_backward(std::int64_t t, const Tensor& d_s, const Tensor& d_before,
                                      const Tensor& d_c) const {
  using enum loop_operators::CellPart;
  const auto of_step = step(t);
  const auto rows = rows_[t].narrow(2, A_, N_ + M_);
  switch (form_) {
    case CellForm::gru_reset_before:
      cell_backward(gru_before_candidate, of_step, d_s, rows, d_before, {});
      cell_backward(gru_before_reset, of_step, U_candidate_.multiply(gate(rows, 2)), rows, d_before,
                    {});
      break;
    case CellForm::gru_reset_after:
      cell_backward(gru_after, of_step, d_s, rows, d_before, {});
      break;
    case CellForm::lstm:
      cell_backward(lstm, of_step, d_s, rows, d_before, d_c);
      break;
    case CellForm::tanh:
      cell_backward(tanh, of_step, d_s, rows, d_before, {});
      break;
  }
}

void CompositeCellSteps::forward(std::int64_t t) {
  if (has_kernels_) return run_forward(t);
  const auto s = states_.before[t];
  const auto x = tape_.gates[t];
  auto next = states_.after[t];
  switch (form_) {
    case CellForm::gru_reset_before: {
      U_.add_to(gate(x, 0, 2), s);
      gate(x, 0, 2).sigmoid_();
      auto reset = tape_.product[t];
      torch::mul_out(reset, gate(x, 0), s);
      U_candidate_.add_to(gate(x, 2), reset);
      gate(x, 2).tanh_();
      torch::lerp_out(next, gate(x, 2), s, gate(x, 1));
      break;
    }
    case CellForm::gru_reset_after: {
      U_.add_to(gate(x, 0, 2), s);
      gate(x, 0, 2).sigmoid_();
      const auto product = tape_.product[t];
      U_candidate_.add_to(product, s);
      gate(x, 2).addcmul_(gate(x, 0), product).tanh_();
      torch::lerp_out(next, gate(x, 2), s, gate(x, 1));
      break;
    }
    case CellForm::lstm: {
      U_.add_to(x, s);
      gate(x, 0, 3).sigmoid_();
      gate(x, 3).tanh_();
      auto c = states_.memory_after[t];
      torch::mul_out(c, gate(x, 1), states_.memory_before[t]);
      c.addcmul_(gate(x, 0), gate(x, 3));
      torch::mul_out(next, gate(x, 2), c.tanh());
      break;
    }
    case CellForm::tanh:
      U_.add_to(x, s);
      torch::tanh_out(next, x);
      break;
  }
}

void CompositeCellSteps::begin_backward(const Tensor& W) {
  const auto [T, G, B] = std::tuple(tape_.gates.size(0), tape_.gates.size(1), tape_.gates.size(2));
  if (!has_kernels_) factors_ = gate_derivatives();
  A_ = W.defined() ? W.size(0) : 0;
  N_ = form_ == CellForm::gru_reset_after ? D_ : 0;
  rows_ = torch::empty({T, G, B, A_ + N_ + M_}, tape_.gates.options());
  joint_width_ = A_ + (form_ == CellForm::gru_reset_before  ? 2 * D_
                       : form_ == CellForm::gru_reset_after ? 3 * D_
                                                            : M_);
  joint_ = Factor(joint_weight(W), is_bf16_);  // [G, joint_width, D]
  if (form_ == CellForm::gru_reset_before) {
    U_candidate_ = Factor(tape_.U.narrow(2, 2 * D_, D_).transpose(1, 2), is_bf16_);
  }
}

void CompositeCellSteps::backward(std::int64_t t, const Tensor& d_s, const Tensor& d_before,
                                  const Tensor& d_c) {
  if (has_kernels_) return run_backward(t, d_s, d_before, d_c);
  const auto row = rows_[t];
  const auto d_x = row.narrow(2, A_ + N_, M_);
  const auto gates = tape_.gates[t];
  const auto factor = factors_[t];
  switch (form_) {
    case CellForm::gru_reset_before: {
      multiply_gates(d_s, factor, d_x, 1, 2);
      const auto d_reset = U_candidate_.multiply(gate(d_x, 2));
      multiply_gates(d_reset, factor, d_x, 0, 1);
      d_before.addcmul_(d_s, gate(gates, 1)).addcmul_(d_reset, gate(gates, 0));
      break;
    }
    case CellForm::gru_reset_after: {
      multiply_gates(d_s, factor.narrow(2, D_, M_), d_x, 1, 2);
      // d_(U s + b_U) | d_r
      multiply_gates(gate(d_x, 2), factor, row.narrow(2, A_, 2 * D_), 0, 2);
      d_before.addcmul_(d_s, gate(gates, 1));
      break;
    }
    case CellForm::lstm: {
      d_c.addcmul_(d_s, gate(factor, 4));
      multiply_gates(d_c, factor, d_x, 0, 2);
      multiply_gates(d_s, factor, d_x, 2, 1);
      multiply_gates(d_c, factor, d_x, 3, 1);
      d_c.mul_(gate(gates, 1));
      break;
    }
    case CellForm::tanh:
      multiply_gates(d_s, factor, d_x, 0, 1);
      break;
  }
}

CompositeCellSteps::WeightGradients CompositeCellSteps::weight_gradients() const {
  WeightGradients d;
  const auto& s = states_.before;
  const auto d_gates = d_inputs();
  if (!has_candidate()) {
    d.U = sum_of_products(s, d_gates, is_bf16_);
  } else {
    const auto reset_before = form_ == CellForm::gru_reset_before;
    const auto d_product = reset_before ? gate(d_gates, 2) : rows_.narrow(3, A_, D_);
    d.U = torch::cat({sum_of_products(s, gate(d_gates, 0, 2), is_bf16_),
                      sum_of_products(reset_before ? tape_.product : s, d_product, is_bf16_)},
                     2);
    if (!reset_before) d.b_U = d_product.sum(at::IntArrayRef{0, 2}).unsqueeze(1);  // [G, 1, D]
  }
  if (A_ > 0) d.W = sum_of_products(rows_.narrow(3, 0, A_), s, false)[0];  // [A, D]
  return d;
}

void CompositeCellSteps::multiply_gates(const Tensor& d, const Tensor& factor, const Tensor& result,
                                        std::int64_t k, std::int64_t n) const {
  auto to = gate(result, k, n).unflatten(-1, {n, D_});
  torch::mul_out(to, d.unsqueeze(-2), gate(factor, k, n).unflatten(-1, {n, D_}));
}

Tensor CompositeCellSteps::gate_derivatives() const {
  const auto all = tape_.gates;
  const auto& s = states_.before;
  const auto n = form_ == CellForm::gru_reset_before  ? 3
                 : form_ == CellForm::gru_reset_after ? 4
                 : form_ == CellForm::lstm            ? 5
                                                      : 1;
  auto shape = s.sizes().vec();
  shape.back() = n * D_;
  auto factors = torch::empty(shape, s.options());
  // Store d σ (1 − σ) and d (1 − tanh²), as factor number k.
  const auto by_sigmoid = [&](std::int64_t k, const Tensor& d, const Tensor& sigmoid) {
    auto to = gate(factors, k);
    at::sigmoid_backward_out(to, d, sigmoid);
  };
  const auto by_tanh = [&](std::int64_t k, const Tensor& d, const Tensor& tanh) {
    auto to = gate(factors, k);
    at::tanh_backward_out(to, d, tanh);
  };
  switch (form_) {
    case CellForm::gru_reset_before:
    case CellForm::gru_reset_after: {
      const auto r = gate(all, 0), z = gate(all, 1), candidate = gate(all, 2);
      by_sigmoid(n - 2, s - candidate, z);
      by_tanh(n - 1, 1 - z, candidate);
      if (form_ == CellForm::gru_reset_after) {
        gate(factors, 0).copy_(r);
        by_sigmoid(1, tape_.product, r);
      } else {
        by_sigmoid(0, s, r);
      }
      break;
    }
    case CellForm::lstm: {
      const auto i = gate(all, 0), f = gate(all, 1), o = gate(all, 2), candidate = gate(all, 3);
      const auto tanh_c = states_.memory_after.tanh();
      by_sigmoid(0, candidate, i);
      by_sigmoid(1, states_.memory_before, f);
      by_sigmoid(2, tanh_c, o);
      by_tanh(3, i, candidate);
      by_tanh(4, o, tanh_c);
      break;
    }
    case CellForm::tanh:
      by_tanh(0, torch::ones_like(states_.after), states_.after);
      break;
  }
  return factors;
}

Tensor CompositeCellSteps::joint_weight(const Tensor& W) const {
  std::vector<Tensor> columns;
  if (W.defined()) columns.push_back(W.unsqueeze(0));
  const auto U = tape_.U.transpose(1, 2);  // [G, K · D, D]
  switch (form_) {
    case CellForm::gru_reset_before:
      columns.push_back(U.narrow(1, 0, 2 * D_));
      break;
    case CellForm::gru_reset_after:
      columns.push_back(U.narrow(1, 2 * D_, D_));
      columns.push_back(U.narrow(1, 0, 2 * D_));
      break;
    default:
      columns.push_back(U);
  }
  return torch::cat(columns, 1);
}

}  // namespace regard::kernels
