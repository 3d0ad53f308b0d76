#include "model/rnn/cell.h"

#include <torch/utils.h>

#include <vector>

#include "kernels/linear.h"
#include "model/initialisation.h"

namespace regard {
namespace {

using kernels::CellForm;

CellForm form_of(CellKind kind, ResetGate reset) {
  switch (kind) {
    case CellKind::lstm:
      return CellForm::lstm;
    case CellKind::tanh:
      return CellForm::tanh;
    case CellKind::gru:
      break;
  }
  return reset == ResetGate::after ? CellForm::gru_reset_after : CellForm::gru_reset_before;
}

}  // namespace

Cell::Cell(CellKind kind, std::int64_t G, std::int64_t input_size, std::int64_t hidden_size,
           ResetGate reset)
    : form_(form_of(kind, reset)), D_(hidden_size) {
  const auto I = input_size;
  const auto D = hidden_size;
  const auto K = kernels::gate_count(form_);
  W_ = register_parameter("W", torch::empty({G, I, K * D}));
  U_ = register_parameter("U", torch::empty({G, D, K * D}));
  b_ = register_parameter("b", torch::zeros({G, 1, K * D}));
  for (std::int64_t g = 0; g < G; ++g) {
    for (std::int64_t gate = 0; gate < K; ++gate) {
      xavier_uniform(W_[g].narrow(1, gate * D, D));
      orthogonal(U_[g].narrow(1, gate * D, D));
    }
  }
  if (form_ == CellForm::gru_reset_after) {
    b_U_ = register_parameter("b_U", torch::zeros({G, 1, D}));
  }
  if (form_ == CellForm::lstm) {
    const torch::NoGradGuard guard;
    b_.narrow(2, D, D).fill_(1);
  }
}

torch::Tensor Cell::project(const torch::Tensor& x) {
  return kernels::linear_each(b_, x, W_);
}

kernels::RecurrentWeights Cell::weights() const {
  return {form_, U_.squeeze(0), b_U_.defined() ? b_U_.flatten() : torch::Tensor()};
}

torch::Tensor Cell::sequence(const torch::Tensor& projected, const torch::Tensor& state) {
  return kernels::recurrence_each(projected, state, {form_, U_, b_U_}).outputs;
}

kernels::Recurrence Cell::sequence_from_zero(const torch::Tensor& x, bool want_memory) {
  if (!want_memory && kernels::has_recurrence_of_library(x, form_)) {
    return {kernels::recurrence_of_library(x, W_, b_, {form_, U_, b_U_}), {}};
  }
  const auto [G, T, B] = std::tuple(x.size(0), x.size(1), x.size(2));
  const auto projected = project(x.view({G, T * B, -1})).view({G, T, B, -1});
  return kernels::recurrence_each(projected, x.new_zeros({G, B, state_size()}), {form_, U_, b_U_});
}

torch::Tensor Cell::step(const torch::Tensor& projected, const torch::Tensor& state) {
  return kernels::recurrent_step(projected, state, weights());
}

kernels::Recurrence Cell::sequence_with_attention(const torch::Tensor& projected,
                                                  const torch::Tensor& state,
                                                  const kernels::LoopAttention& attention) {
  return kernels::recurrence(projected, state, weights(), attention);
}

kernels::Recurrence Cell::sequence_with_second(const torch::Tensor& projected,
                                               const torch::Tensor& state, const Cell& second,
                                               const kernels::LoopAttention& attention) {
  const auto first_cell = weights();
  return kernels::recurrence(projected, state, second.weights(), attention, &first_cell);
}

}  // namespace regard
