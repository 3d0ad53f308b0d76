// The steps of the recurrent cells in the loop of recurrence.cpp, made of the loops in
// loops/cells.h, which has the equations, and their gradients.
#pragma once

#include <torch/types.h>
#include <torch/utils.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "kernels/gradient_factors.h"
#include "kernels/linear.h"
#include "kernels/loops/cells.h"
#include "kernels/maybe.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "kernels/recurrence.h"

namespace regard::kernels {

// The tensors of one cell that forward saves for backward. A tensor is undefined if this form of
// cell does not have it.
struct FusedCellTape {
  torch::Tensor U, b_U, W;  // inputs, W [A, D] of attention
  // q_t | u_t, the products of W and of U with the state. J is the width. If the reset gate of a
  // GRU comes before the product, only the columns of U for r and z take part.
  torch::Tensor joint;  // [T, B, J]
  torch::Tensor gates;  // [T, B, K · D], but for a simple cell
  torch::Tensor reset;  // [T, B, D]: r ⊙ s, of a GRU whose reset gate comes before the product

  std::array<torch::Tensor*, 6> all() { return {&U, &b_U, &W, &joint, &gates, &reset}; }
};

// Creates the tensors of a cell that a forward pass fills. W may be undefined.
inline FusedCellTape make_fused_cell_tape(CellForm form, const torch::Tensor& U, const Maybe& b_U,
                                          const torch::Tensor& W, std::int64_t T, std::int64_t B) {
  const auto D = U.size(0);
  const bool reset_before = form == CellForm::gru_reset_before;
  const auto J = (W.defined() ? W.size(0) : 0) + (reset_before ? 2 * D : U.size(1));
  FusedCellTape tape;
  tape.U = U;
  tape.b_U = contiguous(b_U);
  tape.W = W;
  tape.joint = torch::empty({T, B, J}, U.options());
  if (form != CellForm::tanh) tape.gates = torch::empty({T, B, U.size(1)}, U.options());
  if (reset_before) tape.reset = torch::empty({T, B, D}, U.options());
  return tape;
}

template <typename T>
T* data_of(const torch::Tensor& tensor) {
  return tensor.mutable_data_ptr<T>();
}

// A matrix that a loop multiplies with at every step. A weight of the model is packed once for all
// threads of a training step.
class LoopWeight {
 public:
  explicit LoopWeight(const torch::Tensor& W) {
    auto* weights = training_weights_for(W);
    const bool is_shared = weights != nullptr && weights->contains(W);
    if (!is_shared) own_.emplace(W, training_precision_for(W));
    packed_ = is_shared ? &weights->get_or_pack(W) : &*own_;
  }
  LoopWeight(const LoopWeight&) = delete;
  LoopWeight& operator=(const LoopWeight&) = delete;
  void multiply(const torch::Tensor& x, const torch::Tensor& y, bool add = false) const {
    packed_->multiply(x, y, add);
  }

 private:
  std::optional<PackedMatrix> own_;
  const PackedMatrix* packed_;
};

// The steps of one cell and their gradients. J is the width of q_t | u_t, A that of q_t: 0 without
// W.
template <typename T>
class FusedCellSteps {
 public:
  // The states before and after each step: outputs and memories [T, B, D].
  struct States {
    torch::Tensor before, after, memory_before, memory_after;
  };

  FusedCellSteps(FusedCellTape& tape, CellForm form, States states)
      : tape_(tape),
        states_(std::move(states)),
        form_(form),
        B_(tape.joint.size(1)),
        D_(tape.U.size(0)),
        J_(tape.joint.size(2)),
        A_(tape.W.defined() ? tape.W.size(0) : 0),
        U_state_(tape.U.narrow(1, 0, J_ - A_)) {
    if (has_second_product()) U_candidate_ = tape.U.narrow(1, 2 * D_, D_);
  }

  // inputs [T, B, K · D], or [B, K · D]: those of the current step.
  void begin_forward(const torch::Tensor& inputs) {
    inputs_ = inputs;
    product_ = torch::empty({B_, D_}, tape_.U.options());  // U (r ⊙ s)
    if (A_ > 0) packed_W_.emplace(tape_.W.t());
    packed_U_.emplace(U_state_);
    if (has_second_product()) packed_candidate_.emplace(U_candidate_);
  }
  // Computes q_t | u_t from the state before the step.
  void multiply(std::int64_t t) {
    if (packed_W_) packed_W_->multiply(states_.before[t], query_part(tape_.joint[t]));
    packed_U_->multiply(states_.before[t], state_part(tape_.joint[t]));
  }
  // Computes the state after the step.
  void forward(std::int64_t t) {
    const T* input = data_of<T>(inputs_.dim() == 2 ? inputs_ : inputs_[t]);
    const T* s = data_of<T>(states_.before[t]);
    T* next = data_of<T>(states_.after[t]);
    switch (form_) {
      case CellForm::gru_reset_after:
        gru_after<T>(B_, D_, input, recurrent(t), data_of<T>(tape_.b_U), s, gates(t), next);
        break;
      case CellForm::gru_reset_before: {
        const auto reset = tape_.reset[t];
        gru_before_reset<T>(B_, D_, input, recurrent(t), s, gates(t), data_of<T>(reset));
        packed_candidate_->multiply(reset, product_);
        gru_before_candidate<T>(B_, D_, input, data_of<T>(product_), s, gates(t), next);
        break;
      }
      case CellForm::lstm:
        lstm<T>(B_, D_, input, recurrent(t), data_of<T>(states_.memory_before[t]), gates(t),
                data_of<T>(states_.memory_after[t]), next);
        break;
      case CellForm::tanh:
        tanh_cell<T>(B_, D_, input, recurrent(t), next);
        break;
    }
  }

  void begin_backward() {
    const auto options = tape_.U.options();
    const auto steps = tape_.joint.size(0);
    d_joint_ = torch::empty_like(tape_.joint);
    d_inputs_ = torch::empty({steps, B_, tape_.U.size(1)}, options);
    if (has_second_product()) {
      d_product_ = torch::empty({steps, B_, D_}, options);
      d_reset_ = torch::empty({B_, D_}, options);
      packed_candidate_.emplace(U_candidate_.t());
    }
    if (A_ > 0) packed_W_.emplace(tape_.W);
    packed_U_.emplace(U_state_.t());
  }
  // d_s [B, D] of the state after the step -> the gradient of its inputs, and d_before, that of the
  // state before it but for the part that add_joint() adds. d_memory [B, D] becomes that before.
  void backward(std::int64_t t, const torch::Tensor& d_s, const torch::Tensor& d_before,
                const torch::Tensor& d_memory) {
    T* d_x = data_of<T>(d_inputs_[t]);
    const T* s = data_of<T>(states_.before[t]);
    const Strided<T> d_u = {d_query(t).data + A_, J_};
    switch (form_) {
      case CellForm::gru_reset_after:
        gru_after_backward<T>(B_, D_, data_of<T>(d_s), gates(t), recurrent(t),
                              data_of<T>(tape_.b_U), s, d_x, d_u, data_of<T>(d_before));
        break;
      case CellForm::gru_reset_before: {
        const auto d_product = d_product_[t];
        gru_before_candidate_backward<T>(B_, D_, data_of<T>(d_s), gates(t), s, d_x,
                                         data_of<T>(d_product), data_of<T>(d_before));
        packed_candidate_->multiply(d_product, d_reset_);
        gru_before_reset_backward<T>(B_, D_, data_of<T>(d_reset_), gates(t), s, d_x, d_u,
                                     data_of<T>(d_before));
        break;
      }
      case CellForm::lstm:
        lstm_backward<T>(B_, D_, data_of<T>(d_s), gates(t), data_of<T>(states_.memory_before[t]),
                         data_of<T>(states_.memory_after[t]), d_x, d_u, data_of<T>(d_memory));
        d_before.zero_();
        break;
      case CellForm::tanh:
        tanh_cell_backward<T>(B_, D_, data_of<T>(d_s), data_of<T>(states_.after[t]), d_x, d_u);
        d_before.zero_();
        break;
    }
  }
  // Adds the gradient through q_t | u_t to that of the state before the step.
  void add_joint(std::int64_t t, const torch::Tensor& d_before) {
    if (packed_W_) packed_W_->multiply(query_part(d_joint_[t]), d_before, /*add=*/true);
    packed_U_->multiply(state_part(d_joint_[t]), d_before, /*add=*/true);
  }

  Strided<const T> query(std::int64_t t) const {
    if (A_ == 0) return {data_of<T>(states_.before[t]), D_};
    return {data_of<T>(tape_.joint[t]), J_};
  }
  Strided<T> d_query(std::int64_t t) const { return {data_of<T>(d_joint_[t]), J_}; }
  const torch::Tensor& d_inputs() const { return d_inputs_; }  // [T, B, K · D]

  // Computes the gradient of each weight as one product over all steps. U and W have none if the
  // training step gathers their factors (gradient_factors.h).
  struct WeightGradients {
    torch::Tensor U, b_U, W;
  };
  WeightGradients weight_gradients() const {
    WeightGradients d;
    const auto rows = tape_.joint.size(0) * B_;
    const auto before = states_.before.reshape({rows, D_});
    const auto d_joint = d_joint_.view({rows, J_});
    auto* factors = gradient_factors();
    if (factors != nullptr && factors->takes_product(tape_.U, rows)) {
      factors->add_product(U_state_, before, state_part(d_joint));
      if (has_second_product()) {
        factors->add_product(U_candidate_, tape_.reset.view({rows, D_}),
                             d_product_.view({rows, D_}));
      }
      if (A_ > 0) d.W = weight_gradient(tape_.W, query_part(d_joint), before);
      if (tape_.b_U.defined()) d.b_U = d_bias();
      return d;
    }
    const auto d_joint_weight = matrix_product(before.t(), d_joint);  // [D, J]
    d.U = state_part(d_joint_weight);
    if (A_ > 0) d.W = query_part(d_joint_weight).t();
    if (tape_.b_U.defined()) d.b_U = d_bias();
    if (has_second_product()) {
      const auto d_U_candidate =
          matrix_product(tape_.reset.view({rows, D_}).t(), d_product_.view({rows, D_}));
      d.U = torch::cat({d.U, d_U_candidate}, 1);
    }
    return d;
  }

 private:
  // The columns of q and those of u in [*, J].
  torch::Tensor query_part(const torch::Tensor& joint) const { return joint.narrow(1, 0, A_); }
  torch::Tensor state_part(const torch::Tensor& joint) const {
    return joint.narrow(1, A_, J_ - A_);
  }
  torch::Tensor d_bias() const {
    return d_joint_.narrow(2, A_ + 2 * D_, D_).sum(at::IntArrayRef{0, 1});
  }
  T* gates(std::int64_t t) const { return data_of<T>(tape_.gates[t]); }
  Strided<const T> recurrent(std::int64_t t) const { return {data_of<T>(tape_.joint[t]) + A_, J_}; }
  // True for U (r ⊙ s).
  bool has_second_product() const { return form_ == CellForm::gru_reset_before; }

  FusedCellTape& tape_;
  States states_;
  CellForm form_;
  std::int64_t B_, D_, J_, A_;
  torch::Tensor U_state_;      // the columns that multiply the state
  torch::Tensor U_candidate_;  // [D, D], if there is a second product
  // In forward Wᵀ, U_state and U_candidate; in backward their transposes.
  std::optional<LoopWeight> packed_W_, packed_U_, packed_candidate_;
  torch::Tensor inputs_, product_;
  torch::Tensor d_inputs_, d_joint_, d_product_, d_reset_;
};

}  // namespace regard::kernels
