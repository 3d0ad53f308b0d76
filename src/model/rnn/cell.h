// What the layers of a recurrent encoder or decoder are made of: s_t = f(x_t, s_{t−1}).
//
// What does not wait for the last state (W x + b, for all steps at once) is the caller's one
// product before the time loop: an input's share of the gates, K gates of width D side by side. A
// state may carry more than it shows (an LSTM's memory); what is shown comes first.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "config/model_options.h"
#include "kernels/gru.h"

namespace regard {

// G cells of one size run side by side: the two directions of an encoder (G = 2), or a single cell.
class Cell : public torch::nn::Module {
 public:
  // W x + b: inputs x [G, N, I] -> [G, N, K · D].
  torch::Tensor project(const torch::Tensor& x);
  // All steps in turn: projected [G, T, B, K · D], first state [G, B, state_size] -> what is shown
  // [G, T, B, D].
  virtual torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state) = 0;
  // A single cell (G = 1), one step: projected [B, K · D], state [B, state_size] -> the next state.
  virtual torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state) = 0;
  // A single cell, all steps with attention in the loop, where there is a kernel for it: projected
  // [T, B, K · D], state [B, state_size].
  virtual std::optional<kernels::GruSequence> attended_sequence(
      const torch::Tensor& /*projected*/, const torch::Tensor& /*state*/,
      const kernels::GruAttention& /*attention*/) {
    return {};
  }

  // What a state [N, state_size] shows: [N, D].
  torch::Tensor shown(const torch::Tensor& state) const { return state.narrow(-1, 0, D_); }
  std::int64_t gates_size() const { return W_.size(2); }  // K · D
  virtual std::int64_t state_size() const { return D_; }

 protected:
  // K gates; W Xavier, U orthogonal, gate by gate.
  Cell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, std::int64_t K);

  std::int64_t D_;
  torch::Tensor W_;  // [G, I, K · D]
  torch::Tensor U_;  // [G, D, K · D]
  torch::Tensor b_;  // [G, 1, K · D]
};

// A cell without kernels: LibTorch's operations, one step of all G after the other.
class SteppedCell : public Cell {
 public:
  torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state) override;
  torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state) override;

 protected:
  using Cell::Cell;
  // projected [G, B, K · D], state [G, B, state_size] -> the next state.
  virtual torch::Tensor advance(const torch::Tensor& projected, const torch::Tensor& state) = 0;
};

std::shared_ptr<Cell> make_cell(CellKind kind, std::int64_t G, std::int64_t input_size,
                                std::int64_t hidden_size, ResetGate reset);

}  // namespace regard
