// The time loop of recurrence.h and its gradient: one cell, or two, with attention before the last
// one; what its forward pass saves, and the call of its autograd function. The steps are those of a
// kind of device: recurrence.cpp has them for the CPU, made of kernels/loops,
// recurrence_composite.cpp for other devices, made of operations of LibTorch.
#pragma once

#include <torch/autograd.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "kernels/maybe.h"
#include "kernels/recurrence.h"

namespace regard::kernels {

// The states before and after each step, of all states [T + 1, …]; undefined if those are.
inline torch::Tensor states_before(const torch::Tensor& all) {
  return all.defined() ? all.narrow(0, 0, all.size(0) - 1) : all;
}
inline torch::Tensor states_after(const torch::Tensor& all) {
  return all.defined() ? all.narrow(0, 1, all.size(0) - 1) : all;
}

// The tensors and options that forward saves for backward. A tensor is undefined if there is no
// attention or no first cell, or if this form of cell or score does not have it. States are [B, D],
// or [G, B, D] of G cells at once; G is 1 with attention.
template <typename CellTape>
struct RecurrenceTape {
  CellForm form = CellForm::tanh;
  ScoreForm score = ScoreForm::dot;
  double scale = 1;
  torch::Tensor v, keys, mixed;  // inputs
  CellTape first_cell;           // before attention, of two cells
  CellTape cell;                 // after attention
  torch::Tensor outputs;         // [T + 1, …], beginning with that of the first state
  torch::Tensor memory;        // [T + 1, …]: c of an LSTM, beginning with that of the first state
  torch::Tensor inner;         // [T, …]: the outputs of the first of two cells
  torch::Tensor inner_memory;  // [T, …]: its c
  torch::Tensor weights;       // [T, B, S]

  // Creates the tensors that the steps fill, for x [T, …, K · D] and the first state. The cells and
  // the keys must be set.
  void create_results(const torch::Tensor& x, const torch::Tensor& first) {
    const auto T = x.size(0);
    const auto D = cell.U.size(-2);
    const auto states = [&](std::int64_t n) {
      auto sizes = x.sizes().vec();
      sizes.front() = n;
      sizes.back() = D;
      return torch::empty(sizes, x.options());
    };
    const bool is_lstm = form == CellForm::lstm;
    outputs = states(T + 1);
    outputs[0].copy_(first.narrow(-1, 0, D));
    if (is_lstm) {
      memory = states(T + 1);
      memory[0].copy_(first.narrow(-1, D, D));
    }
    if (first_cell.U.defined()) {
      inner = states(T);
      if (is_lstm) inner_memory = states(T);
    }
    if (keys.defined()) weights = torch::empty({T, x.size(-2), keys.size(1)}, x.options());
  }
  // Returns outputs, weights and memory, if there are any, without the first state.
  torch::autograd::tensor_list results() const {
    torch::autograd::tensor_list all = {states_after(outputs)};
    if (weights.defined()) all.push_back(weights);
    if (memory.defined()) all.push_back(states_after(memory));
    return all;
  }

  // Returns all tensors, with those of one kind of device.
  std::vector<torch::Tensor*> all_with(std::initializer_list<torch::Tensor*> more) {
    std::vector<torch::Tensor*> all = more;
    for (auto* of_cell : {&first_cell, &cell}) {
      for (auto* tensor : of_cell->all()) all.push_back(tensor);
    }
    all.insert(all.end(), {&v, &keys, &mixed, &outputs, &memory, &inner, &inner_memory, &weights});
    return all;
  }
};

// Saves tape.all() and the options of a tape, and restores them.
template <typename Tape>
void save_tape(torch::autograd::AutogradContext* context, Tape& tape) {
  torch::autograd::tensor_list saved;
  for (const auto* tensor : tape.all()) saved.push_back(*tensor);
  context->save_for_backward(saved);
  context->saved_data["form"] = static_cast<std::int64_t>(tape.form);
  context->saved_data["score"] = static_cast<std::int64_t>(tape.score);
  context->saved_data["scale"] = tape.scale;
  context->set_materialize_grads(false);
}
template <typename Tape>
Tape restore_tape(torch::autograd::AutogradContext* context) {
  Tape tape;
  const auto saved = context->get_saved_variables();
  const auto slots = tape.all();
  for (std::size_t i = 0; i < slots.size(); ++i) *slots[i] = saved[i];
  tape.form = static_cast<CellForm>(context->saved_data["form"].toInt());
  tape.score = static_cast<ScoreForm>(context->saved_data["score"].toInt());
  tape.scale = context->saved_data["scale"].toDouble();
  return tape;
}

template <typename Cell, typename Attention>
struct RecurrenceLoop {
  std::int64_t T;
  std::optional<Cell> first_cell;  // of two cells
  std::optional<Cell> cell;
  std::optional<Attention> attention;  // adds the mixture to the inputs of `cell`

  // Creates the cells, with options of one kind of device, but not the attention.
  template <typename Tape, typename... Options>
  explicit RecurrenceLoop(Tape& tape, Options... options) : T(tape.outputs.size(0) - 1) {
    using States = typename Cell::States;
    const bool has_two = tape.inner.defined();
    const auto before = states_before(tape.outputs);
    const auto memory_before = states_before(tape.memory);
    if (has_two) {
      first_cell.emplace(tape.first_cell, tape.form, options...,
                         States{before, tape.inner, memory_before, tape.inner_memory});
    }
    cell.emplace(tape.cell, tape.form, options...,
                 States{has_two ? tape.inner : before, states_after(tape.outputs),
                        has_two ? tape.inner_memory : memory_before, states_after(tape.memory)});
  }

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

  // Returns the gradients of the arguments of the autograd function, after backward(). d_s and d_c,
  // undefined unless the cell is an LSTM, are those of the first state.
  torch::autograd::tensor_list gradients(const torch::Tensor& d_s, const torch::Tensor& d_c) {
    const auto d_cell = cell->weight_gradients();
    typename Cell::WeightGradients d_first_cell;
    if (first_cell) d_first_cell = first_cell->weight_gradients();
    torch::autograd::tensor_list all = {first_cell ? first_cell->d_inputs() : cell->d_inputs(),
                                        d_c.defined() ? torch::cat({d_s, d_c}, -1) : d_s,
                                        d_first_cell.U,
                                        d_first_cell.b_U,
                                        d_cell.U,
                                        d_cell.b_U,
                                        d_cell.W};
    if (attention) {
      all.back() = attention->d_W(d_cell.W);
      all.insert(all.end(), {attention->d_v(), attention->d_keys(), attention->d_mixed()});
    }
    constexpr std::size_t arguments = 14;  // of the autograd function; the others have none
    all.resize(arguments);
    return all;
  }
};

// Calls the autograd function of a kind of device. `ends` are the lengths or the padding of the
// sources, with attention.
template <typename Function>
Recurrence run_recurrence(const torch::Tensor& x, const torch::Tensor& first,
                          const RecurrentWeights& cell,
                          const std::optional<LoopAttention>& attention,
                          const RecurrentWeights* first_cell, const Maybe& ends) {
  const auto [a, mixed] = attention.value_or(LoopAttention{});
  const auto results = Function::apply(x, first, first_cell ? Maybe(first_cell->U) : std::nullopt,
                                       first_cell ? maybe(first_cell->b_U) : std::nullopt, cell.U,
                                       maybe(cell.b_U), maybe(a.W), maybe(a.v), maybe(a.keys),
                                       maybe(mixed), ends, static_cast<std::int64_t>(cell.form),
                                       static_cast<std::int64_t>(a.form), a.scale);
  return {results[0], attention ? results[1] : torch::Tensor(),
          cell.form == CellForm::lstm ? results.back() : torch::Tensor()};
}

}  // namespace regard::kernels
