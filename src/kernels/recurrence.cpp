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

struct FusedTape : RecurrenceTape<FusedCellTape> {
  Tensor lengths;  // an input

  std::vector<Tensor*> all() { return all_with({&lengths}); }
};

// The steps of attention before a cell, and their gradient.
template <typename T>
class FusedAttention {
 public:
  // M = K · D of the cell.
  FusedAttention(FusedTape& tape, FusedCellSteps<T>& cell, std::int64_t M)
      : tape_(tape),
        cell_(cell),
        buffers_(
            AttentionScore{tape.score, tape.cell.W, tape.v, tape.scale, tape.keys, tape.lengths}
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
    d_keys_ = torch::zeros_like(tape_.keys);
    if (tape_.v.defined()) d_v_ = torch::zeros({B, tape_.v.size(0)}, tape_.keys.options());
    if (!tape_.cell.W.defined()) d_query_ = torch::empty({B, D}, tape_.keys.options());
  }
  // Adds the gradient of the query to d_before, unless add_joint() of the cell does.
  void backward(std::int64_t t, const Tensor& d_before) {
    attend_backward<T>(
        buffers_, cell_.query(t), data_of<T>(tape_.weights[t]),
        d_weights_.defined() ? data_of<T>(d_weights_[t]) : nullptr, data_of<T>(cell_.d_inputs()[t]),
        d_query_.defined() ? Strided<T>{data_of<T>(d_query_), d_query_.size(1)} : cell_.d_query(t),
        data_of<T>(d_keys_), d_v_.defined() ? data_of<T>(d_v_) : nullptr);
    if (d_query_.defined()) d_before.add_(d_query_);
  }
  Tensor d_mixed() const {  // [B, S, K · D]
    return tape_.weights.permute({1, 2, 0}).bmm(cell_.d_inputs().transpose(0, 1));
  }
  Tensor d_v() const { return d_v_.defined() ? d_v_.sum(0) : Tensor(); }
  const Tensor& d_keys() const { return d_keys_; }
  // The gradient of W, from that of the cell.
  const Tensor& d_W(const Tensor& d) const { return d; }

 private:
  FusedTape& tape_;
  FusedCellSteps<T>& cell_;
  AttentionBuffers<T> buffers_;
  Tensor x_, x_hat_;
  Tensor d_weights_, d_v_, d_keys_, d_query_;
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
  explicit FusedLoop(FusedTape& tape)
      : tape_(tape),
        B_(tape.outputs.size(1)),
        D_(tape.outputs.size(2)),
        M_(gate_count(tape.form) * D_),
        loop_(tape) {
    if (tape.keys.defined()) loop_.attention.emplace(tape, *loop_.cell, M_);
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

  // d_outputs [T, B, D]; d_weights [T, B, S] and d_memories [T, B, D] may be undefined.
  tensor_list backward(const Tensor& d_outputs, const Tensor& d_weights, const Tensor& d_memories) {
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
    const auto d_memory = tape_.form == CellForm::lstm ? zeros() : Tensor();
    loop_.backward(states, d_memory, d_memories);
    return loop_.gradients(states.d_s, d_memory);
  }

 private:
  FusedTape& tape_;
  std::int64_t B_, D_, M_;  // M = K · D
  RecurrenceLoop<FusedCellSteps<T>, FusedAttention<T>> loop_;
};

class FusedRecurrence : public torch::autograd::Function<FusedRecurrence> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& first,
                             const Maybe& first_U, const Maybe& first_b_U, const Tensor& U,
                             const Maybe& b_U, const Maybe& W, const Maybe& v, const Maybe& keys,
                             const Maybe& mixed, const Maybe& lengths, std::int64_t form,
                             std::int64_t score, double scale) {
    const auto T = x.size(0);
    const auto B = x.size(1);
    FusedTape tape;
    tape.form = static_cast<CellForm>(form);
    tape.score = static_cast<ScoreForm>(score);
    tape.scale = scale;
    tape.v = contiguous(v);
    tape.keys = contiguous(keys);
    tape.mixed = contiguous(mixed);
    tape.lengths = contiguous(lengths);
    tape.cell = make_fused_cell_tape(tape.form, U, b_U, W.value_or(Tensor()), T, B);
    if (first_U) {
      tape.first_cell = make_fused_cell_tape(tape.form, *first_U, first_b_U, Tensor(), T, B);
    }
    tape.create_results(x, first);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "recurrence",
                               [&] { FusedLoop<scalar_t>(tape).forward(x.contiguous()); });
    save_tape(context, tape);
    return tape.results();
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    auto tape = restore_tape<FusedTape>(context);
    const auto d_outputs = gradients[0].defined() ? gradients[0].contiguous()
                                                  : torch::zeros_like(states_after(tape.outputs));
    const auto d_weights =
        tape.weights.defined() && gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    const auto d_memories = tape.memory.defined() ? gradients.back() : Tensor();
    tensor_list result;
    AT_DISPATCH_FLOATING_TYPES(d_outputs.scalar_type(), "recurrence_backward", [&] {
      result = FusedLoop<scalar_t>(tape).backward(d_outputs, d_weights, d_memories);
    });
    return result;
  }
};

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
  return run_recurrence<FusedRecurrence>(
      x, first, cell, attention, first_cell,
      attention ? maybe(attention->score.lengths) : std::nullopt);
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
