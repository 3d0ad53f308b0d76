#include "kernels/recurrence.h"

#include <torch/autograd.h>

#include <utility>
#include <vector>

#include "kernels/device.h"
#include "kernels/fused_cell.h"
#include "kernels/maybe.h"
#include "kernels/recurrence_loop.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// The tensors that forward saves for backward. A tensor is undefined if there is no attention or no
// first cell, or if this form of cell or score does not have it.
struct FusedTape {
  Tensor v, keys, mixed, lengths;  // inputs
  FusedCellTape first_cell;        // before attention, of two cells
  FusedCellTape cell;              // after attention
  Tensor outputs;                  // [T + 1, B, D], beginning with that of the first state
  Tensor memory;        // [T + 1, B, D]: c of an LSTM, beginning with that of the first state
  Tensor inner;         // [T, B, D]: the outputs of the first of two cells
  Tensor inner_memory;  // [T, B, D]: its c
  Tensor weights;       // [T, B, S]

  std::vector<Tensor*> all() {
    std::vector<Tensor*> tensors = {&v, &keys, &mixed, &lengths};
    for (auto* of_cell : {&first_cell, &cell}) {
      for (auto* tensor : of_cell->all()) tensors.push_back(tensor);
    }
    for (auto* tensor : {&outputs, &memory, &inner, &inner_memory, &weights}) {
      tensors.push_back(tensor);
    }
    return tensors;
  }
};

// The steps of attention before a cell, and their gradient.
template <typename T>
class FusedAttention {
 public:
  // M = K · D of the cell.
  FusedAttention(FusedTape& tape, FusedCellSteps<T>& cell, ScoreForm score, double scale,
                 std::int64_t M)
      : tape_(tape),
        cell_(cell),
        buffers_(AttentionScore{score, tape.cell.W, tape.v, scale, tape.keys, tape.lengths}
                     .template buffers<T>()) {
    buffers_.M = M;
    buffers_.mixed = data_of<T>(tape.mixed);
  }

  // x [T, B, M] are the inputs of the cell without the mixture, or [B, M], the same at each step.
  // x̂ [B, M] takes those of the current step.
  void begin_forward(const Tensor& x, const Tensor& x_hat) {
    x_ = x;
    x_hat_ = x_hat;
  }
  void forward(std::int64_t t) {
    attend<T>(buffers_, cell_.query(t), data_of<T>(x_.dim() == 2 ? x_ : x_[t]),
              data_of<T>(tape_.weights[t]), data_of<T>(x_hat_));
  }

  // d_weights [T, B, S] may be undefined.
  void begin_backward(const Tensor& d_weights) {
    const auto [B, D] = std::pair(tape_.outputs.size(1), tape_.outputs.size(2));
    d_weights_ = d_weights;
    d_keys = torch::zeros_like(tape_.keys);
    if (tape_.v.defined()) d_v_ = torch::zeros({B, tape_.v.size(0)}, tape_.keys.options());
    if (!tape_.cell.W.defined()) d_query_ = torch::empty({B, D}, tape_.keys.options());
  }
  // Adds the gradient of the query to d_before, unless add_joint() of the cell does.
  void backward(std::int64_t t, const Tensor& d_before) {
    attend_backward<T>(
        buffers_, cell_.query(t), data_of<T>(tape_.weights[t]),
        d_weights_.defined() ? data_of<T>(d_weights_[t]) : nullptr, data_of<T>(cell_.d_inputs()[t]),
        d_query_.defined() ? Strided<T>{data_of<T>(d_query_), d_query_.size(1)} : cell_.d_query(t),
        data_of<T>(d_keys), d_v_.defined() ? data_of<T>(d_v_) : nullptr);
    if (d_query_.defined()) d_before.add_(d_query_);
  }
  Tensor d_mixed() const {  // [B, S, K · D]
    return tape_.weights.permute({1, 2, 0}).bmm(cell_.d_inputs().transpose(0, 1));
  }
  Tensor d_v() const { return d_v_.defined() ? d_v_.sum(0) : Tensor(); }

  Tensor d_keys;

 private:
  FusedTape& tape_;
  FusedCellSteps<T>& cell_;
  AttentionBuffers<T> buffers_;
  Tensor x_, x_hat_;
  Tensor d_weights_, d_v_, d_query_;
};

// The gradients of the states [B, D] of the current step.
struct FusedStateGradients {
  Tensor d_outputs;        // [T, B, D]
  Tensor d_s, d_previous;  // after and before the step
  Tensor d_between;        // of two cells

  void begin(std::int64_t t) const { d_s.add_(d_outputs[t]); }
  const Tensor& after(std::int64_t /*t*/) const { return d_s; }
  Tensor before(std::int64_t /*t*/) const { return d_previous; }
  Tensor between(std::int64_t /*t*/) const { return d_between; }
  void end() { std::swap(d_s, d_previous); }
};

// All steps and their gradients.
template <typename T>
class FusedLoop {
 public:
  FusedLoop(FusedTape& tape, CellForm form, ScoreForm score, double scale)
      : tape_(tape),
        B_(tape.outputs.size(1)),
        D_(tape.outputs.size(2)),
        M_(gate_count(form) * D_),
        is_lstm_(form == CellForm::lstm) {
    loop_.T = tape.outputs.size(0) - 1;
    const auto before = [&](const Tensor& x) { return x.defined() ? x.narrow(0, 0, loop_.T) : x; };
    const auto after = [&](const Tensor& x) { return x.defined() ? x.narrow(0, 1, loop_.T) : x; };
    const bool has_two = tape.inner.defined();
    using States = typename FusedCellSteps<T>::States;
    if (has_two) {
      loop_.first_cell.emplace(
          tape.first_cell, form,
          States{before(tape.outputs), tape.inner, before(tape.memory), tape.inner_memory});
    }
    loop_.cell.emplace(
        tape.cell, form,
        States{has_two ? tape.inner : before(tape.outputs), after(tape.outputs),
               has_two ? tape.inner_memory : before(tape.memory), after(tape.memory)});
    if (tape.keys.defined()) loop_.attention.emplace(tape, *loop_.cell, score, scale, M_);
  }

  void forward(const Tensor& x) {
    auto inputs = x;  // of the cell, without attention
    if (loop_.first_cell) {
      loop_.first_cell->begin_forward(x);
      inputs = torch::zeros({B_, M_}, x.options());
    }
    if (loop_.attention) {
      const auto x_hat = torch::empty({B_, M_}, x.options());
      loop_.attention->begin_forward(inputs, x_hat);
      inputs = x_hat;
    }
    loop_.cell->begin_forward(inputs);
    loop_.forward();
  }

  struct Gradients {
    Tensor x, first, v, keys, mixed;
    typename FusedCellSteps<T>::WeightGradients first_cell, cell;
  };

  // d_outputs [T, B, D]; d_weights [T, B, S] and d_memories [T, B, D] may be undefined.
  Gradients backward(const Tensor& d_outputs, const Tensor& d_weights, const Tensor& d_memories) {
    const auto options = tape_.outputs.options();
    const auto zeros = [&] { return torch::zeros({B_, D_}, options); };
    auto& [T_, first_cell, cell, attention] = loop_;
    FusedStateGradients states = {d_outputs, zeros(), zeros(), {}};
    if (first_cell) {
      first_cell->begin_backward();
      states.d_between = torch::empty({B_, D_}, options);
    }
    cell->begin_backward();
    if (attention) attention->begin_backward(d_weights);
    const auto d_memory = is_lstm_ ? zeros() : Tensor();
    loop_.backward(states, d_memory, d_memories);
    Gradients d;
    d.x = first_cell ? first_cell->d_inputs() : cell->d_inputs();
    d.first = is_lstm_ ? torch::cat({states.d_s, d_memory}, 1) : states.d_s;
    d.cell = cell->weight_gradients();
    if (first_cell) d.first_cell = first_cell->weight_gradients();
    if (attention) {
      d.mixed = attention->d_mixed();
      d.keys = attention->d_keys;
      d.v = attention->d_v();
    }
    return d;
  }

 private:
  FusedTape& tape_;
  std::int64_t B_, D_, M_;  // M = K · D
  bool is_lstm_;
  RecurrenceLoop<FusedCellSteps<T>, FusedAttention<T>> loop_;
};

class FusedRecurrence : public torch::autograd::Function<FusedRecurrence> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& first,
                             const Maybe& first_U, const Maybe& first_b_U, const Tensor& U,
                             const Maybe& b_U, const Maybe& maybe_W, const Maybe& maybe_v,
                             const Maybe& maybe_keys, const Maybe& maybe_mixed,
                             const Maybe& maybe_lengths, std::int64_t form, std::int64_t score,
                             double scale) {
    const auto T = x.size(0);
    const auto B = x.size(1);
    const auto D = U.size(0);
    const auto cell = static_cast<CellForm>(form);
    FusedTape tape;
    tape.v = contiguous(maybe_v);
    tape.keys = contiguous(maybe_keys);
    tape.mixed = contiguous(maybe_mixed);
    tape.lengths = contiguous(maybe_lengths);
    if (tape.keys.defined()) {
      tape.weights = torch::empty({T, B, tape.keys.size(1)}, x.options());
    }
    tape.cell = make_fused_cell_tape(cell, U, b_U, maybe_W.value_or(Tensor()), T, B);
    tape.outputs = torch::empty({T + 1, B, D}, x.options());
    tape.outputs[0].copy_(first.narrow(1, 0, D));
    if (cell == CellForm::lstm) {
      tape.memory = torch::empty({T + 1, B, D}, x.options());
      tape.memory[0].copy_(first.narrow(1, D, D));
    }
    if (first_U) {
      tape.first_cell = make_fused_cell_tape(cell, *first_U, first_b_U, Tensor(), T, B);
      tape.inner = torch::empty({T, B, D}, x.options());
      if (cell == CellForm::lstm) tape.inner_memory = torch::empty_like(tape.inner);
    }
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "recurrence", [&] {
      FusedLoop<scalar_t>(tape, cell, static_cast<ScoreForm>(score), scale).forward(x.contiguous());
    });

    tensor_list saved;
    for (const auto* tensor : tape.all()) saved.push_back(*tensor);
    context->save_for_backward(saved);
    context->saved_data["form"] = form;
    context->saved_data["first_U_is_parameter"] = tape.first_cell.U_is_parameter;
    context->saved_data["U_is_parameter"] = tape.cell.U_is_parameter;
    context->saved_data["W_is_parameter"] = tape.cell.W_is_parameter;
    context->saved_data["score"] = score;
    context->saved_data["scale"] = scale;
    context->set_materialize_grads(false);
    tensor_list results = {tape.outputs.narrow(0, 1, T)};
    if (tape.weights.defined()) results.push_back(tape.weights);
    if (tape.memory.defined()) results.push_back(tape.memory.narrow(0, 1, T));
    return results;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    FusedTape tape;
    const auto saved = context->get_saved_variables();
    const auto slots = tape.all();
    for (std::size_t i = 0; i < slots.size(); ++i) *slots[i] = saved[i];
    const auto form = static_cast<CellForm>(context->saved_data["form"].toInt());
    tape.first_cell.U_is_parameter = context->saved_data["first_U_is_parameter"].toBool();
    tape.cell.U_is_parameter = context->saved_data["U_is_parameter"].toBool();
    tape.cell.W_is_parameter = context->saved_data["W_is_parameter"].toBool();
    const auto score = static_cast<ScoreForm>(context->saved_data["score"].toInt());
    const auto scale = context->saved_data["scale"].toDouble();
    const auto d_outputs =
        gradients[0].defined()
            ? gradients[0].contiguous()
            : torch::zeros_like(tape.outputs.narrow(0, 1, tape.cell.joint.size(0)));
    const auto d_weights =
        tape.weights.defined() && gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    const auto d_memories = tape.memory.defined() ? gradients.back() : Tensor();
    tensor_list result;
    AT_DISPATCH_FLOATING_TYPES(d_outputs.scalar_type(), "recurrence_backward", [&] {
      auto d =
          FusedLoop<scalar_t>(tape, form, score, scale).backward(d_outputs, d_weights, d_memories);
      result = {d.x, d.first, d.first_cell.U, d.first_cell.b_U, d.cell.U, d.cell.b_U, d.cell.W,
                d.v, d.keys,  d.mixed,        Tensor(),         Tensor(), Tensor(),   Tensor()};
    });
    return result;
  }
};

// Runs the kernels.
Recurrence fused_recurrence(const Tensor& x, const Tensor& first, const RecurrentWeights& cell,
                            const std::optional<LoopAttention>& attention,
                            const RecurrentWeights* first_cell) {
  const auto [a, mixed] = attention.value_or(LoopAttention{});
  const auto results = FusedRecurrence::apply(
      x, first, first_cell ? Maybe(first_cell->U) : std::nullopt,
      first_cell ? maybe(first_cell->b_U) : std::nullopt, cell.U, maybe(cell.b_U), maybe(a.W),
      maybe(a.v), maybe(a.keys), maybe(mixed), maybe(a.lengths),
      static_cast<std::int64_t>(cell.form), static_cast<std::int64_t>(a.form), a.scale);
  return {results[0], attention ? results[1] : Tensor(),
          cell.form == CellForm::lstm ? results.back() : Tensor()};
}

}  // namespace

std::int64_t gate_count(CellForm form) {
  switch (form) {
    case CellForm::lstm:
      return 4;
    case CellForm::tanh:
      return 1;
    default:
      return 3;
  }
}

Recurrence recurrence(const Tensor& x, const Tensor& first, const RecurrentWeights& cell,
                      const std::optional<LoopAttention>& attention,
                      const RecurrentWeights* first_cell) {
  if (!x.is_cpu()) return recurrence_composite(x, first, cell, attention, first_cell);
  if (!is_fused_on(x)) return recurrence_reference(x, first, cell, attention, first_cell);
  return fused_recurrence(x, first, cell, attention, first_cell);
}

Recurrence recurrence_each(const Tensor& x, const Tensor& first, const RecurrentWeights& cells) {
  if (!x.is_cpu()) return recurrence_each_composite(x, first, cells);
  std::vector<Tensor> outputs;
  std::vector<Tensor> memories;
  for (std::int64_t g = 0; g < x.size(0); ++g) {
    const auto b_U = cells.b_U.defined() ? cells.b_U[g][0] : Tensor();
    const auto all = recurrence(x[g], first[g], {cells.form, cells.U[g], b_U});
    outputs.push_back(all.outputs);
    if (all.memory.defined()) memories.push_back(all.memory);
  }
  return {torch::stack(outputs), {}, memories.empty() ? Tensor() : torch::stack(memories)};
}

}  // namespace regard::kernels
