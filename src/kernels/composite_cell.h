// The steps of the recurrent cells in the loop of recurrence_composite.cpp, made of few operations
// of LibTorch, or of products and the kernels of loop_operators.h on devices that have them, and
// their hand-written gradients. Without kernels, the derivative of each gate with respect to its
// sum, which does not depend on later steps, is computed for all steps at once, before the loop
// over the steps in reverse order. loops/cells.h has the equations.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/device.h"
#include "kernels/loop_operators.h"
#include "kernels/recurrence.h"

namespace regard::kernels {

// The tensors of one cell that forward saves for backward.
struct CompositeCellTape {
  torch::Tensor U;  // [G, D, K · D]
  // [T, G, B, K · D]: the activations of the gates; the output of a simple cell is its only gate.
  torch::Tensor gates;
  torch::Tensor product;  // [T, G, B, D]: r ⊙ s, or U s + b_U with the reset gate after the product

  std::array<torch::Tensor*, 3> all() { return {&U, &gates, &product}; }
};

// Creates the tensors of a cell. The steps replace their inputs x [T, G, B, K · D] by the
// activations.
CompositeCellTape make_composite_cell_tape(CellForm form, const torch::Tensor& U,
                                           const torch::Tensor& x);

// The steps of one kind of cell, G at once, and their gradients.
class CompositeCellSteps {
 public:
  // The states before and after each step: outputs and memories [T, G, B, D].
  struct States {
    torch::Tensor before, after, memory_before, memory_after;
  };

  CompositeCellSteps(CompositeCellTape& tape, CellForm form, bool is_bf16, States states)
      : tape_(tape),
        states_(std::move(states)),
        form_(form),
        is_bf16_(is_bf16),
        has_kernels_(has_kernel_operators(tape.gates)),
        D_(tape.U.size(1)),
        M_(tape.U.size(2)) {}

  const torch::Tensor& before() const { return states_.before; }
  // The inputs of step t, to be replaced by the activations of the gates [G, B, K · D].
  torch::Tensor input(std::int64_t t) const { return tape_.gates[t]; }

  // True if the steps are kernels; then they compute the queries, q_t = W s_t, too.
  bool has_kernels() const { return has_kernels_; }

  // b_U [G, 1, D] or undefined, W [A, D] of the queries or undefined.
  void begin_forward(const torch::Tensor& b_U, const torch::Tensor& W);
  // With kernels, computes the products of the state, with W and U. Without, forward() adds that
  // with U to the inputs.
  void multiply(std::int64_t t);
  void forward(std::int64_t t);

  // With kernels and W: the query of the step [B, A], and those of all steps so far [T, B, A].
  torch::Tensor query() const { return queries_.back(); }
  torch::Tensor queries() const { return torch::stack(queries_); }

  // W' [A, D]: the factor of the gradient of the query in that of the state, or undefined.
  void begin_backward(const torch::Tensor& W);
  // d_s [G, B, D] of the state after the step. Adds the gradient of the state before it to
  // d_before, but for the part that add_joint() adds. d_c [G, B, D] of an LSTM becomes that before.
  void backward(std::int64_t t, const torch::Tensor& d_s, const torch::Tensor& d_before,
                const torch::Tensor& d_c);
  // Adds the gradient through the products with W' and U to that of the state before the step.
  void add_joint(std::int64_t t, const torch::Tensor& d_before) {
    joint_.add_to(d_before, rows_[t].narrow(2, 0, joint_width_));
  }

  // The gradient of the query of step t [G, B, A], undefined without W'.
  torch::Tensor d_query(std::int64_t t) const {
    return A_ > 0 ? rows_[t].narrow(2, 0, A_) : torch::Tensor();
  }
  // The gradient of the inputs [T, G, B, K · D].
  torch::Tensor d_inputs() const { return rows_.narrow(3, A_ + N_, M_); }

  // Computes the gradient of each weight as one product over all steps. That of W is Σ d_qᵀ s.
  struct WeightGradients {
    torch::Tensor U, b_U, W;
  };
  WeightGradients weight_gradients() const;

 private:
  // A weight W [G, K, N] as a factor of products, in bf16 if training is.
  class Factor {
   public:
    Factor() = default;
    Factor(const torch::Tensor& W, bool is_bf16);

    // x [G, B, K] -> x W [G, B, N]
    torch::Tensor multiply(const torch::Tensor& x) const;
    // y += x W
    void add_to(const torch::Tensor& y, const torch::Tensor& x) const;

   private:
    torch::Tensor W_;
    bool is_bf16_ = false;
  };

  // The steps by kernels.
  void run_forward(std::int64_t t) const;
  void run_backward(std::int64_t t, const torch::Tensor& d_s, const torch::Tensor& d_before,
                    const torch::Tensor& d_c) const;
  // The tensors of step t.
  loop_operators::CellStep step(std::int64_t t) const;

  // Returns gates k … k + n − 1 of x [..., K · D].
  torch::Tensor gate(const torch::Tensor& x, std::int64_t k, std::int64_t n = 1) const {
    return x.narrow(-1, k * D_, n * D_);
  }

  // Computes gates k … k + n − 1 of result as d ⊙ those of factor, with d [G, B, D].
  void multiply_gates(const torch::Tensor& d, const torch::Tensor& factor,
                      const torch::Tensor& result, std::int64_t k, std::int64_t n) const;

  // True if not all columns of U are multiplied with s and added to the inputs.
  bool has_candidate() const {
    return form_ == CellForm::gru_reset_before || form_ == CellForm::gru_reset_after;
  }

  // Returns factors of the gradient [T, G, B, n · D], derivatives with respect to the sums of the
  // gates unless another variable is named:
  //
  //   GRU, before  of r ⊙ s by r, of s' by z, of s' by s̃
  //   GRU, after   of the sum of s̃ by U s + b_U itself, of the sum of s̃ by r, of s' by z, by s̃
  //   LSTM         of c' by i, by f, of h' by o, of c' by c̃, of h' by c' itself
  //   simple       of h'
  torch::Tensor gate_derivatives() const;

  // Returns the transpose of [W' | U'], [G, A + …, D], in the order of the gradients in a row.
  torch::Tensor joint_weight(const torch::Tensor& W) const;

  CompositeCellTape& tape_;
  States states_;
  CellForm form_;
  bool is_bf16_;
  bool has_kernels_;
  std::int64_t D_, M_;  // M = K · D
  Factor U_;            // in forward; with kernels, [Wᵀ | U] as the products of a step need it
  Factor U_candidate_;  // in backward its transpose
  // With kernels: b_U, the product with U of the step [G, B, ·], the queries of all steps.
  torch::Tensor b_U_, u_;
  std::vector<torch::Tensor> queries_;
  // In backward. Each row is d_q | d_(U s + b_U) | d_x, of widths A, N and M. The first two are the
  // gradients of the products with s; N is 0 but for gru_reset_after, and r and z are in front of
  // d_x.
  torch::Tensor rows_, factors_;
  Factor joint_;
  std::int64_t A_ = 0, N_ = 0, joint_width_ = 0;
};

}  // namespace regard::kernels
