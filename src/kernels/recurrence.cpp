#include "kernels/recurrence.h"

#include <torch/autograd.h>

#include "kernels/cell_rows.h"
#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/linear.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using Maybe = std::optional<Tensor>;  // autograd functions take no undefined tensors

Maybe maybe(const Tensor& tensor) {
  return tensor.defined() ? Maybe(tensor) : std::nullopt;
}
Tensor contiguous(const Maybe& tensor) {
  return tensor ? tensor->contiguous() : Tensor();
}

// The tensors that forward saves for backward. A tensor is undefined if there is no attention, or
// if this form of cell or score does not have it.
struct Tape {
  // The inputs.
  Tensor U, b_U, W, v, keys, mixed, lengths;
  // [W | U], the columns that multiply h_{t−1}: all of U, but only the columns of r and z of a GRU
  // whose reset gate comes before the product. J is the width.
  Tensor joint_weight;  // [D, J]
  Tensor outputs;       // [T + 1, B, D], beginning with that of the first state
  Tensor memory;        // [T + 1, B, D]: c of an LSTM, beginning with that of the first state
  Tensor joint;         // [T, B, J]: q_t | u_t
  Tensor gates;         // [T, B, K · D], but for a simple cell
  Tensor reset;    // [T, B, D]: r ⊙ s_{t−1}, of a GRU whose reset gate comes before the product
  Tensor weights;  // [T, B, S]

  static constexpr std::size_t size = 14;
  std::array<Tensor*, size> all() {
    return {&U,       &b_U,    &W,     &v,     &keys,  &mixed,  &lengths, &joint_weight,
            &outputs, &memory, &joint, &gates, &reset, &weights};
  }
};

// The time loop and its gradient. J is the width of joint_weight, A the width of its first part, W:
// 0 if the query is the state itself.
template <typename T>
class Loop {
 public:
  Loop(Tape& tape, CellForm form, ScoreForm score, double scale)
      : tape_(tape),
        form_(form),
        T_(tape.outputs.size(0) - 1),
        B_(tape.outputs.size(1)),
        D_(tape.outputs.size(2)),
        M_(gate_count(form) * D_),
        J_(tape.joint_weight.size(1)),
        A_(tape.W.defined() ? tape.W.size(0) : 0),
        precision_(training_precision_for(tape.U)) {
    if (has_second_product()) U_candidate_ = tape.U.narrow(1, 2 * D_, D_);
    if (!tape.keys.defined()) return;
    attention_ =
        AttentionScore{score, tape.W, tape.v, scale, tape.keys, tape.lengths}.template buffers<T>();
    attention_->M = M_;
    attention_->mixed = data(tape.mixed);
  }

  void forward(const Tensor& x) {
    auto mixture = torch::empty({B_, M_}, x.options());  // x̂_t
    auto product = torch::empty({B_, D_}, x.options());  // U (r ⊙ s)
    const PackedMatrix joint_weight(tape_.joint_weight, precision_);
    const auto U_candidate = pack_candidate(U_candidate_);
    for (std::int64_t t = 0; t < T_; ++t) {
      joint_weight.multiply(tape_.outputs[t], tape_.joint[t]);
      const T* input = data(x[t]);
      if (attention_) {
        attend<T>(*attention_, query(t), input, data(tape_.weights[t]), data(mixture));
        input = data(mixture);
      }
      const T* s = data(tape_.outputs[t]);
      T* next = data(tape_.outputs[t + 1]);
      switch (form_) {
        case CellForm::gru_reset_after:
          gru_after<T>(B_, D_, input, recurrent(t), data(tape_.b_U), s, gates(t), next);
          break;
        case CellForm::gru_reset_before: {
          const auto reset = tape_.reset[t];
          gru_before_reset<T>(B_, D_, input, recurrent(t), s, gates(t), data(reset));
          U_candidate->multiply(reset, product);
          gru_before_candidate<T>(B_, D_, input, data(product), s, gates(t), next);
          break;
        }
        case CellForm::lstm:
          lstm<T>(B_, D_, input, recurrent(t), data(tape_.memory[t]), gates(t),
                  data(tape_.memory[t + 1]), next);
          break;
        case CellForm::tanh:
          tanh_cell<T>(B_, D_, input, recurrent(t), next);
          break;
      }
    }
  }

  struct Gradients {
    Tensor x, first, U, b_U, W, v, keys, mixed;
  };

  // d_outputs [T, B, D]; d_weights [T, B, S] and d_memories [T, B, D] may be undefined.
  Gradients backward(const Tensor& d_outputs, const Tensor& d_weights, const Tensor& d_memories) {
    const auto options = tape_.outputs.options();
    Gradients d;
    d.x = torch::empty({T_, B_, M_}, options);
    auto d_joint = torch::empty({T_, B_, J_}, options);
    Tensor d_product, d_reset, d_memory, d_v, d_query;
    if (has_second_product()) {
      d_product = torch::empty({T_, B_, D_}, options);
      d_reset = torch::empty({B_, D_}, options);
    }
    if (form_ == CellForm::lstm) d_memory = torch::zeros({B_, D_}, options);
    if (attention_) {
      d.keys = torch::zeros_like(tape_.keys);
      if (tape_.v.defined()) d_v = torch::zeros({B_, A_}, options);
      if (!tape_.W.defined()) d_query = torch::empty({B_, D_}, options);
    }
    const PackedMatrix joint_weight_t(tape_.joint_weight.t(), precision_);
    const auto U_candidate_t =
        pack_candidate(has_second_product() ? U_candidate_.t() : U_candidate_);
    auto d_s = torch::zeros({B_, D_}, options);
    auto d_previous = torch::zeros({B_, D_}, options);
    for (std::int64_t t = T_ - 1; t >= 0; --t) {
      d_s.add_(d_outputs[t]);
      const T* s = data(tape_.outputs[t]);
      T* d_x = data(d.x[t]);
      const Strided<T> d_q_u = {data(d_joint[t]), J_};  // d_q_t | d_u_t
      const Strided<T> d_u = {d_q_u.data + A_, J_};
      switch (form_) {
        case CellForm::gru_reset_after:
          gru_after_backward<T>(B_, D_, data(d_s), gates(t), recurrent(t), data(tape_.b_U), s, d_x,
                                d_u, data(d_previous));
          break;
        case CellForm::gru_reset_before: {
          const auto d_product_t = d_product[t];
          gru_before_candidate_backward<T>(B_, D_, data(d_s), gates(t), s, d_x, data(d_product_t),
                                           data(d_previous));
          U_candidate_t->multiply(d_product_t, d_reset);
          gru_before_reset_backward<T>(B_, D_, data(d_reset), gates(t), s, d_x, d_u,
                                       data(d_previous));
          break;
        }
        case CellForm::lstm:
          if (d_memories.defined()) d_memory.add_(d_memories[t]);
          lstm_backward<T>(B_, D_, data(d_s), gates(t), data(tape_.memory[t]),
                           data(tape_.memory[t + 1]), d_x, d_u, data(d_memory));
          d_previous.zero_();
          break;
        case CellForm::tanh:
          tanh_cell_backward<T>(B_, D_, data(d_s), data(tape_.outputs[t + 1]), d_x, d_u);
          d_previous.zero_();
          break;
      }
      if (attention_) {
        attend_backward<T>(*attention_, query(t), data(tape_.weights[t]),
                           d_weights.defined() ? data(d_weights[t]) : nullptr, d_x,
                           d_query.defined() ? Strided<T>{data(d_query), D_} : d_q_u, data(d.keys),
                           d_v.defined() ? data(d_v) : nullptr);
        if (d_query.defined()) d_previous.add_(d_query);
      }
      joint_weight_t.multiply(d_joint[t], d_previous, /*add=*/true);
      std::swap(d_s, d_previous);
    }
    d.first = d_memory.defined() ? torch::cat({d_s, d_memory}, 1) : d_s;
    add_weight_gradients(d, d_joint, d_product, d_v);
    return d;
  }

 private:
  static T* data(const Tensor& tensor) { return tensor.mutable_data_ptr<T>(); }

  T* gates(std::int64_t t) const { return data(tape_.gates[t]); }

  Strided<const T> query(std::int64_t t) const {
    if (!tape_.W.defined()) return {data(tape_.outputs[t]), D_};
    return {data(tape_.joint[t]), J_};
  }
  Strided<const T> recurrent(std::int64_t t) const { return {data(tape_.joint[t]) + A_, J_}; }

  // True for U (r ⊙ s_{t−1}).
  bool has_second_product() const { return form_ == CellForm::gru_reset_before; }
  std::optional<PackedMatrix> pack_candidate(const Tensor& U_candidate) const {
    return has_second_product()
               ? std::optional<PackedMatrix>(std::in_place, U_candidate, precision_)
               : std::nullopt;
  }

  // Computes the gradient of each weight as one product over all steps, and those of m and v.
  void add_weight_gradients(Gradients& d, const Tensor& d_joint, const Tensor& d_product,
                            const Tensor& d_v) const {
    const auto rows = T_ * B_;
    const auto d_joint_weight =  // [D, J]
        matrix_product(tape_.outputs.narrow(0, 0, T_).view({rows, D_}).t(),
                       d_joint.view({rows, J_}));
    d.U = d_joint_weight.narrow(1, A_, J_ - A_);
    if (A_ > 0) d.W = d_joint_weight.narrow(1, 0, A_).t();
    if (tape_.b_U.defined()) {
      d.b_U = d_joint.narrow(2, A_ + 2 * D_, D_).sum(at::IntArrayRef{0, 1});
    }
    if (has_second_product()) {
      const auto d_U_candidate =
          matrix_product(tape_.reset.view({rows, D_}).t(), d_product.view({rows, D_}));
      d.U = torch::cat({d.U, d_U_candidate}, 1);
    }
    if (!attention_) return;
    d.mixed = tape_.weights.permute({1, 2, 0}).bmm(d.x.transpose(0, 1));  // [B, S, K · D]
    if (d_v.defined()) d.v = d_v.sum(0);
  }

  Tape& tape_;
  CellForm form_;
  std::int64_t T_, B_, D_, M_, J_, A_;  // M = K · D
  Tensor U_candidate_;                  // [D, D], if there is a second product
  Precision precision_;
  std::optional<AttentionBuffers<T>> attention_;
};

class RecurrenceFunction : public torch::autograd::Function<RecurrenceFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& first,
                             const Tensor& U, const Maybe& maybe_b_U, const Maybe& maybe_W,
                             const Maybe& maybe_v, const Maybe& maybe_keys,
                             const Maybe& maybe_mixed, const Maybe& maybe_lengths,
                             std::int64_t form, std::int64_t score, double scale) {
    const auto T = x.size(0);
    const auto B = x.size(1);
    const auto D = U.size(0);
    const auto cell = static_cast<CellForm>(form);
    Tape tape;
    tape.U = U.contiguous();
    tape.b_U = contiguous(maybe_b_U);
    tape.W = contiguous(maybe_W);
    tape.v = contiguous(maybe_v);
    tape.keys = contiguous(maybe_keys);
    tape.mixed = contiguous(maybe_mixed);
    tape.lengths = contiguous(maybe_lengths);
    if (tape.keys.defined()) {
      tape.weights = torch::empty({T, B, tape.keys.size(1)}, x.options());
    }
    const bool reset_before = cell == CellForm::gru_reset_before;
    const auto recurrent = reset_before ? tape.U.narrow(1, 0, 2 * D) : tape.U;
    tape.joint_weight = tape.W.defined() ? torch::cat({tape.W.t(), recurrent}, 1) : recurrent;
    tape.outputs = torch::empty({T + 1, B, D}, x.options());
    tape.outputs[0].copy_(first.narrow(1, 0, D));
    tape.joint = torch::empty({T, B, tape.joint_weight.size(1)}, x.options());
    if (cell != CellForm::tanh) tape.gates = torch::empty_like(x, at::MemoryFormat::Contiguous);
    if (reset_before) tape.reset = torch::empty({T, B, D}, x.options());
    if (cell == CellForm::lstm) {
      tape.memory = torch::empty({T + 1, B, D}, x.options());
      tape.memory[0].copy_(first.narrow(1, D, D));
    }
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "recurrence", [&] {
      Loop<scalar_t>(tape, cell, static_cast<ScoreForm>(score), scale).forward(x.contiguous());
    });

    tensor_list saved;
    for (const auto* tensor : tape.all()) saved.push_back(*tensor);
    context->save_for_backward(saved);
    context->saved_data["form"] = form;
    context->saved_data["score"] = score;
    context->saved_data["scale"] = scale;
    context->set_materialize_grads(false);
    tensor_list results = {tape.outputs.narrow(0, 1, T)};
    if (tape.weights.defined()) results.push_back(tape.weights);
    if (tape.memory.defined()) results.push_back(tape.memory.narrow(0, 1, T));
    return results;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    Tape tape;
    const auto saved = context->get_saved_variables();
    const auto slots = tape.all();
    for (std::size_t i = 0; i < slots.size(); ++i) *slots[i] = saved[i];
    const auto form = static_cast<CellForm>(context->saved_data["form"].toInt());
    const auto score = static_cast<ScoreForm>(context->saved_data["score"].toInt());
    const auto scale = context->saved_data["scale"].toDouble();
    const auto d_outputs = gradients[0].defined()
                               ? gradients[0].contiguous()
                               : torch::zeros_like(tape.outputs.narrow(0, 1, tape.joint.size(0)));
    const auto d_weights =
        tape.weights.defined() && gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    const auto d_memories = tape.memory.defined() ? gradients.back() : Tensor();
    tensor_list result;
    AT_DISPATCH_FLOATING_TYPES(d_outputs.scalar_type(), "recurrence_backward", [&] {
      auto d = Loop<scalar_t>(tape, form, score, scale).backward(d_outputs, d_weights, d_memories);
      result = {d.x,    d.first, d.U,      d.b_U,    d.W,      d.v,
                d.keys, d.mixed, Tensor(), Tensor(), Tensor(), Tensor()};
    });
    return result;
  }
};

Tensor gru_step_reference(const Tensor& x, const Tensor& s, const RecurrentWeights& cell) {
  const auto D = s.size(1);
  const auto x_rz = x.narrow(1, 0, 2 * D);
  const auto x_candidate = x.narrow(1, 2 * D, D);
  if (cell.form == CellForm::gru_reset_after) {
    const auto u = product(s, cell.U);  // [B, 3D]
    const auto gates = (x_rz + u.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
    const auto candidate = (x_candidate + gates[0] * (u.narrow(1, 2 * D, D) + cell.b_U)).tanh();
    return torch::lerp(candidate, s, gates[1]);
  }
  const auto gates = add_product(x_rz, s, cell.U.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
  const auto candidate = add_product(x_candidate, gates[0] * s, cell.U.narrow(1, 2 * D, D)).tanh();
  return torch::lerp(candidate, s, gates[1]);  // z ⊙ s + (1 − z) ⊙ s̃
}

Tensor lstm_step_reference(const Tensor& x, const Tensor& s, const Tensor& U) {
  const auto D = U.size(0);
  const auto gates = add_product(x, s.narrow(1, 0, D), U);                    // [B, 4D]
  const auto open = kernels::sigmoid(gates.narrow(1, 0, 3 * D)).chunk(3, 1);  // i, f, o
  const auto candidate = kernels::tanh(gates.narrow(1, 3 * D, D));
  const auto c = open[1] * s.narrow(1, D, D) + open[0] * candidate;
  return torch::cat({open[2] * kernels::tanh(c), c}, 1);
}

template <typename T>
void gru_before_step(const Tensor& x, const Tensor& s, const Tensor& U, const Tensor& gates,
                     const Tensor& next) {
  const auto B = s.size(0);
  const auto D = s.size(1);
  const auto u = product(s, U.narrow(1, 0, 2 * D));  // [B, 2D]
  const auto reset = torch::empty_like(s);           // r ⊙ s
  gru_before_reset<T>(B, D, x.const_data_ptr<T>(), {u.const_data_ptr<T>(), 2 * D},
                      s.const_data_ptr<T>(), gates.mutable_data_ptr<T>(),
                      reset.mutable_data_ptr<T>());
  const auto v = product(reset, U.narrow(1, 2 * D, D));  // [B, D]
  gru_before_candidate<T>(B, D, x.const_data_ptr<T>(), v.const_data_ptr<T>(), s.const_data_ptr<T>(),
                          gates.mutable_data_ptr<T>(), next.mutable_data_ptr<T>());
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
                      const std::optional<LoopAttention>& attention) {
  if (!x.is_cpu()) {
    RecurrentWeights cells = {cell.form, cell.U.unsqueeze(0)};
    if (cell.b_U.defined()) cells.b_U = cell.b_U.view({1, 1, -1});
    const auto all = recurrence_composite(x.unsqueeze(0), first.unsqueeze(0), cells, attention);
    return {all.outputs.squeeze(0), all.weights,
            all.memory.defined() ? all.memory.squeeze(0) : Tensor()};
  }
  if (!is_fused_on(x)) return recurrence_reference(x, first, cell, attention);
  const auto [a, mixed] = attention.value_or(LoopAttention{});
  const auto results = RecurrenceFunction::apply(
      x, first, cell.U, maybe(cell.b_U), maybe(a.W), maybe(a.v), maybe(a.keys), maybe(mixed),
      maybe(a.lengths), static_cast<std::int64_t>(cell.form), static_cast<std::int64_t>(a.form),
      a.scale);
  return {results[0], attention ? results[1] : Tensor(),
          cell.form == CellForm::lstm ? results.back() : Tensor()};
}

Recurrence recurrence_each(const Tensor& x, const Tensor& first, const RecurrentWeights& cells) {
  if (!x.is_cpu()) return recurrence_composite(x, first, cells);
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

Tensor recurrent_step(const Tensor& x, const Tensor& s, const RecurrentWeights& cell) {
  if (packed_weights_for(cell.U) == nullptr) return recurrent_step_reference(x, s, cell);
  const auto B = s.size(0);
  const auto D = cell.U.size(0);
  const auto input = x.contiguous();
  const auto gates = torch::empty_like(input);
  if (cell.form == CellForm::lstm) {
    const auto halves = s.reshape({B, 2, D}).transpose(0, 1).contiguous();  // h, c
    const auto next = torch::empty_like(halves);
    const auto u = product(halves[0], cell.U);  // [B, 4D]
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "lstm_step", [&] {
      lstm<scalar_t>(B, D, input.const_data_ptr<scalar_t>(), {u.const_data_ptr<scalar_t>(), 4 * D},
                     halves[1].const_data_ptr<scalar_t>(), gates.mutable_data_ptr<scalar_t>(),
                     next[1].mutable_data_ptr<scalar_t>(), next[0].mutable_data_ptr<scalar_t>());
    });
    return next.transpose(0, 1).reshape({B, 2 * D});
  }
  const auto last = s.contiguous();
  const auto next = torch::empty({B, D}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "recurrent_step", [&] {
    using T = scalar_t;
    if (cell.form == CellForm::gru_reset_before) {
      gru_before_step<T>(input, last, cell.U, gates, next);
      return;
    }
    const auto u = product(last, cell.U);  // [B, K · D]
    const Strided<const T> u_rows = {u.const_data_ptr<T>(), u.size(1)};
    if (cell.form == CellForm::gru_reset_after) {
      gru_after<T>(B, D, input.const_data_ptr<T>(), u_rows, cell.b_U.const_data_ptr<T>(),
                   last.const_data_ptr<T>(), gates.mutable_data_ptr<T>(),
                   next.mutable_data_ptr<T>());
    } else {
      tanh_cell<T>(B, D, input.const_data_ptr<T>(), u_rows, next.mutable_data_ptr<T>());
    }
  });
  return next;
}

Tensor recurrent_step_reference(const Tensor& x, const Tensor& s, const RecurrentWeights& cell) {
  switch (cell.form) {
    case CellForm::lstm:
      return lstm_step_reference(x, s, cell.U);
    case CellForm::tanh:
      return kernels::tanh(add_product(x, s, cell.U));
    default:
      return gru_step_reference(x, s, cell);
  }
}

Recurrence recurrence_reference(const Tensor& x, const Tensor& first, const RecurrentWeights& cell,
                                const std::optional<LoopAttention>& attention) {
  const auto D = cell.U.size(0);
  std::vector<Tensor> outputs;
  std::vector<Tensor> weights;
  std::vector<Tensor> memories;
  auto s = first;
  for (auto x_t : x.unbind(0)) {
    if (attention) {
      weights.push_back(attention_weights_reference(attention->score, s.narrow(1, 0, D)));
      x_t = x_t + weights.back().unsqueeze(1).bmm(attention->mixed).squeeze(1);
    }
    s = recurrent_step_reference(x_t, s, cell);
    outputs.push_back(s.narrow(1, 0, D));
    if (cell.form == CellForm::lstm) memories.push_back(s.narrow(1, D, D));
  }
  return {torch::stack(outputs), attention ? torch::stack(weights) : Tensor(),
          memories.empty() ? Tensor() : torch::stack(memories)};
}

}  // namespace regard::kernels
