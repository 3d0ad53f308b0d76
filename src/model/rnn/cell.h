// The recurrent cells: s_t = f(x_t, s_{t−1}).
//
// A cell has K gates of width D, concatenated. The contribution of the input to the gates, W x + b,
// does not depend on the state: the caller computes it with project(), for all steps in one
// product, before the time loop. A state begins with the output of the cell and can be longer: the
// state of an LSTM is [h; c].
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "config/model_options.h"
#include "kernels/gru.h"

namespace regard {

// G independent cells of equal size: the two directions of an encoder (G = 2), or one cell.
class Cell : public torch::nn::Module {
 public:
  // Computes W x + b: inputs x [G, N, I] -> [G, N, K · D]. The N rows can be all steps of a batch.
  torch::Tensor project(const torch::Tensor& x);
  // Runs all steps: projected [G, T, B, K · D], initial state [G, B, state_size] -> outputs
  // [G, T, B, D].
  virtual torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state) = 0;
  // Runs one step of a single cell (G = 1): projected [B, K · D], state [B, state_size] -> next
  // state.
  virtual torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state) = 0;
  // Runs all steps of a single cell (G = 1) with attention inside the loop: projected
  // [T, B, K · D], initial state [B, state_size]. Returns nothing if there is no kernel for this
  // kind of cell.
  virtual std::optional<kernels::GruSequence> sequence_with_attention(
      const torch::Tensor& /*projected*/, const torch::Tensor& /*state*/,
      const kernels::GruAttention& /*attention*/) {
    return {};
  }

  // Returns the output [N, D] of a state [N, state_size].
  torch::Tensor hidden_output(const torch::Tensor& state) const { return state.narrow(-1, 0, D_); }
  std::int64_t gates_size() const { return W_.size(2); }  // K · D
  virtual std::int64_t state_size() const { return D_; }

 protected:
  // K is the number of gates. Initialises W by xavier_uniform and U by orthogonal, gate by gate.
  Cell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, std::int64_t K);

  std::int64_t D_;
  torch::Tensor W_;  // [G, I, K · D]
  torch::Tensor U_;  // [G, D, K · D]
  torch::Tensor b_;  // [G, 1, K · D]
};

// Base class of cells without a kernel for the whole sequence: a loop over steps, all G cells at
// once.
class SteppedCell : public Cell {
 public:
  torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state) override;
  torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state) override;

 protected:
  using Cell::Cell;
  // Runs one step: projected [G, B, K · D], state [G, B, state_size] -> next state.
  virtual torch::Tensor advance(const torch::Tensor& projected, const torch::Tensor& state) = 0;
};

// The gated recurrent unit (Cho et al. 2014), in the form of Bahdanau et al. 2015, A.1.1:
//
//   r = σ(W_r x + U_r s + b_r)         z = σ(W_z x + U_z s + b_z)
//   s̃ = tanh(W x + U [r ⊙ s] + b)      s' = z ⊙ s + (1 − z) ⊙ s̃
//
// or, with the reset gate after the product as in cuDNN:
//
//   s̃ = tanh(W x + b + r ⊙ (U s + b_U))
//
// The order of the gates is r, z, s̃. The time loops are in kernels/gru.h.
class GruCell : public Cell {
 public:
  GruCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, ResetGate reset);

  torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state) override;
  torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state) override;
  std::optional<kernels::GruSequence> sequence_with_attention(
      const torch::Tensor& projected, const torch::Tensor& state,
      const kernels::GruAttention& attention) override;

 private:
  torch::Tensor b_U(std::int64_t g) const;  // b_U [D] of cell g; undefined as b_U_ is

  torch::Tensor b_U_;  // [G, 1, D], only with the reset gate after the product
};

// Long short-term memory (Hochreiter, Schmidhuber 1997; Gers et al. 2000):
//
//   i = σ(W_i x + U_i h + b_i)      f, o likewise      c̃ = tanh(W x + U h + b)
//   c' = f ⊙ c + i ⊙ c̃              h' = o ⊙ tanh(c')
//
// The output of a state [h; c] is h. The order of the gates is i, f, o, c̃. b_f is 1 initially, so
// that an untrained cell does not forget (Jozefowicz et al. 2015).
class LstmCell : public SteppedCell {
 public:
  LstmCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size);

  std::int64_t state_size() const override { return 2 * D_; }

 protected:
  torch::Tensor advance(const torch::Tensor& projected, const torch::Tensor& state) override;
};

// The simple recurrent network (Elman 1990): s' = tanh(W x + U s + b).
class TanhCell : public SteppedCell {
 public:
  TanhCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size)
      : SteppedCell(G, input_size, hidden_size, 1) {}

 protected:
  torch::Tensor advance(const torch::Tensor& projected, const torch::Tensor& state) override;
};

// Creates G cells of a kind, whose inputs are input_size and whose outputs are hidden_size wide.
// Only the GRU reads `reset`.
std::shared_ptr<Cell> make_cell(CellKind kind, std::int64_t G, std::int64_t input_size,
                                std::int64_t hidden_size, ResetGate reset);

}  // namespace regard
