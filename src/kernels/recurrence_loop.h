// The time loop of recurrence.h and its gradient: one cell, or two, with attention before the last
// one. The steps are those of a kind of device: recurrence.cpp has them for the CPU, made of
// kernels/loops, recurrence_composite.cpp for other devices, made of operations of LibTorch.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

namespace regard::kernels {

template <typename Cell, typename Attention>
struct RecurrenceLoop {
  std::int64_t T;
  std::optional<Cell> first_cell;  // of two cells
  std::optional<Cell> cell;
  std::optional<Attention> attention;  // adds the mixture to the inputs of `cell`

  void forward() {
    for (std::int64_t t = 0; t < T; ++t) {
      if (first_cell) {
        first_cell->multiply(t);
        first_cell->forward(t);
      }
      cell->multiply(t);
      if (attention) attention->forward(t);
      cell->forward(t);
    }
  }

  // `d` has the gradients of the states after and before a step, and of those between two cells.
  // d_c is that of the memory of an LSTM after the last step, and becomes that of the first one;
  // d_memories [T, …] are added to it, unless they are undefined.
  template <typename StateGradients>
  void backward(StateGradients& d, const torch::Tensor& d_c, const torch::Tensor& d_memories) {
    for (std::int64_t t = T - 1; t >= 0; --t) {
      d.begin(t);
      if (d_memories.defined()) d_c.add_(d_memories[t]);
      const auto d_before = d.before(t);
      const auto d_state = first_cell ? d.between(t) : d_before;
      cell->backward(t, d.after(t), d_state, d_c);
      if (attention) attention->backward(t, d_state);
      cell->add_joint(t, d_state);
      if (first_cell) {
        first_cell->backward(t, d_state, d_before, d_c);
        first_cell->add_joint(t, d_before);
      }
      d.end();
    }
  }
};

}  // namespace regard::kernels
