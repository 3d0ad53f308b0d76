// The time loop on devices other than the CPU, made of few operations of LibTorch: a launch costs
// more there than the numbers of one step. The gradient is hand-written, so the operations skip
// autograd's dispatch, which would cost as much as half of the operations. composite_cell.h has the
// steps of the cells.
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/autograd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/composite_cell.h"
#include "kernels/functions.h"
#include "kernels/maybe.h"
#include "kernels/mode.h"
#include "kernels/recurrence.h"
#include "kernels/recurrence_loop.h"

namespace regard::kernels {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Limits the memory for tanh(k_s + q) of several steps in a backward pass.
constexpr std::int64_t max_chunk_bytes = std::int64_t{256} << 20;

struct CompositeTape : RecurrenceTape<CompositeCellTape> {
  bool is_bf16 = false;
  Tensor W;        // an input
  Tensor queries;  // [T, B, A]: q_t of the additive score, q_t / |q_t| of the cosine
  Tensor norms;    // [T, B, 1]: |q_t| of the cosine

  std::vector<Tensor*> all() { return all_with({&W, &queries, &norms}); }
};

// The steps of attention before a cell, and their gradient.
class CompositeAttention {
 public:
  CompositeAttention(CompositeTape& tape, CompositeCellSteps& cell) : tape_(tape), cell_(cell) {}

  // padding [B, 1, S]
  void begin_forward(const Tensor& padding) {
    if (cell_.has_kernels()) {
      padding_ = padding.squeeze(1).contiguous();
      return;
    }
    if (tape_.W.defined()) W_ = tape_.W.t();
    bias_ = torch::zeros({padding.size(0), padding.size(2)}, tape_.outputs.options())
                .masked_fill_(padding.squeeze(1), minus_infinity);
  }
  // Adds the mixture to the inputs of the cell.
  void forward(std::int64_t t) {
    if (cell_.has_kernels()) {
      const auto q = tape_.W.defined() ? cell_.query() : cell_.before()[t][0];
      loop_operators::attend(step(q), padding_, cell_.input(t)[0], tape_.weights[t]);
      return;
    }
    const auto s = cell_.before()[t][0];  // [B, D]
    auto q = s;
    if (tape_.score == ScoreForm::additive) {
      q = tape_.queries[t];
      torch::mm_out(q, s, W_);
    } else if (W_.defined()) {
      q = s.mm(W_);
    }
    Tensor e;  // [B, S]
    switch (tape_.score) {
      case ScoreForm::additive: {
        const auto hidden = (tape_.keys + q.unsqueeze(1)).tanh_();  // [B, S, A]
        e = torch::addmv(bias_.flatten(), hidden.flatten(0, 1), tape_.v).view_as(bias_);
        break;
      }
      case ScoreForm::position:
        e = q + bias_;
        break;
      case ScoreForm::cosine: {
        auto norm = tape_.norms[t];
        torch::norm_out(norm, q, 2, /*dim=*/{-1}, /*keepdim=*/true);
        auto unit = tape_.queries[t];
        torch::div_out(unit, q, norm.clamp_min(smallest_norm));
        q = unit;
        [[fallthrough]];
      }
      case ScoreForm::dot:
        e = torch::baddbmm(bias_.unsqueeze(2), tape_.keys, q.unsqueeze(2), /*beta=*/1, tape_.scale)
                .squeeze(2);
        break;
    }
    auto alpha = tape_.weights[t];
    at::_softmax_out(alpha, e, -1, /*half_to_float=*/false);
    cell_.input(t).transpose(0, 1).baddbmm_(alpha.unsqueeze(1), tape_.mixed);
  }

  void end_forward() {
    if (cell_.has_kernels() && tape_.W.defined()) tape_.queries = cell_.queries();
  }

  // The factor W' of the gradient of the query in that of the state (CompositeCellSteps), or
  // undefined.
  Tensor query_weight() const { return tape_.W.defined() ? with_factor(tape_.W) : Tensor(); }
  // The gradient of W, from that of W'.
  Tensor d_W(const Tensor& d) const { return d.defined() ? with_factor(d) : Tensor(); }

  // d_weights [T, B, S] may be undefined.
  void begin_backward(const Tensor& d_weights) {
    d_mixtures_ = cell_.d_inputs();
    d_e_ = torch::empty_like(tape_.weights);
    if (cell_.has_kernels()) {
      if (d_weights.defined()) d_alpha_ = d_weights.contiguous();
      if (tape_.score == ScoreForm::additive || tape_.score == ScoreForm::cosine) {
        d_keys_ = torch::zeros_like(tape_.keys);
      }
      if (tape_.score == ScoreForm::additive) {
        d_v_ = torch::zeros({tape_.keys.size(0), tape_.v.size(0)}, tape_.v.options());
      }
      return;
    }
    if (d_weights.defined()) d_alpha_ = d_weights.clone(at::MemoryFormat::Contiguous);
    if (tape_.score == ScoreForm::cosine) {
      // The projection of d_q on q, which its norm does not pass on, but for a norm of nearly 0.
      divisor_ = tape_.norms.clamp_min(smallest_norm).unsqueeze(3);  // [T, B, 1, 1]
      is_large_ = (tape_.norms > smallest_norm).to(d_e_.dtype()).unsqueeze(3);
    }
    if (tape_.score != ScoreForm::additive) return;
    d_keys_ = torch::zeros_like(tape_.keys);
    d_v_ = torch::zeros_like(tape_.v);
    const auto step_bytes = tape_.keys.numel() * tape_.keys.element_size();
    chunk_ = std::max<std::int64_t>(1, max_chunk_bytes / std::max<std::int64_t>(step_bytes, 1));
  }
  // Computes the gradient of the query of step t, as a part of a row of the cell, or adds that of
  // the state, d_s [1, B, D].
  void backward(std::int64_t t, const Tensor& d_s) {
    if (cell_.has_kernels()) return run_backward(t, d_s);
    const auto d_mixture = d_mixtures_[t].transpose(0, 1).transpose(1, 2);  // [B, K · D, 1]
    const auto d_alpha = d_alpha_.defined()
                             ? d_alpha_[t].unsqueeze(2).baddbmm_(tape_.mixed, d_mixture)
                             : tape_.mixed.bmm(d_mixture);  // [B, S, 1]
    auto d_e = d_e_[t];                                     // [B, S]
    at::_softmax_backward_data_out(d_e, d_alpha.squeeze(2), tape_.weights[t], -1,
                                   d_e.scalar_type());
    const auto d_scores = d_e.unsqueeze(1);  // [B, 1, S]
    switch (tape_.score) {
      case ScoreForm::additive: {
        // Σ_s d_e v (1 − h²) = −v Σ_s d_e h², because the gradient of a softmax has the sum 0.
        if (t < first_) load_chunk(t);
        auto to = cell_.d_query(t).transpose(0, 1);
        torch::bmm_out(to, d_scores, squares_[t - first_]);
        if (t == first_) finish_chunk();
        break;
      }
      case ScoreForm::position:
        cell_.d_query(t)[0].copy_(d_e);
        break;
      case ScoreForm::cosine: {
        const auto q = tape_.queries[t].unsqueeze(1);  // [B, 1, A]
        const auto d_unit = d_scores.bmm(tape_.keys);
        const auto along = d_unit.bmm(q.transpose(1, 2)) * is_large_[t];  // [B, 1, 1]
        d_s.transpose(0, 1).addcdiv_(torch::addcmul(d_unit, q, along, -1), divisor_[t],
                                     tape_.scale);
        break;
      }
      case ScoreForm::dot:
        d_s.transpose(0, 1).baddbmm_(d_scores, tape_.keys, /*beta=*/1, tape_.scale);
        break;
    }
  }

  Tensor d_mixed() const {
    return tape_.weights.permute({1, 2, 0}).bmm(d_mixtures_.squeeze(1).transpose(0, 1));
  }
  Tensor d_v() const { return d_v_.defined() && cell_.has_kernels() ? d_v_.sum(0) : d_v_; }
  Tensor d_keys() {  // once
    if (cell_.has_kernels() && d_keys_.defined()) return d_keys_;
    switch (tape_.score) {
      case ScoreForm::additive:
        return d_keys_.neg_().add_(d_e_.sum(0).unsqueeze(2)).mul_(tape_.v);
      case ScoreForm::position:
        return {};
      default: {
        const auto q = tape_.queries.defined() ? tape_.queries : cell_.before().squeeze(1);
        return d_e_.permute({1, 2, 0}).bmm(q.transpose(0, 1)) * tape_.scale;
      }
    }
  }

 private:
  loop_operators::AttentionStep step(const Tensor& q) const {
    return {tape_.score, tape_.scale, q, tape_.keys, tape_.v, tape_.mixed};
  }
  void run_backward(std::int64_t t, const Tensor& d_s) const {
    const bool has_query = tape_.W.defined();
    loop_operators::attend_backward(step(has_query ? tape_.queries[t] : cell_.before()[t][0]),
                                    tape_.weights[t], d_alpha_.defined() ? d_alpha_[t] : Tensor(),
                                    d_mixtures_[t][0],
                                    {.d_e = d_e_[t],
                                     .d_q = has_query ? cell_.d_query(t)[0] : d_s[0],
                                     .adds_d_q = !has_query,
                                     .d_keys = d_keys_,
                                     .d_v = d_v_});
  }

  // Multiplies W, or its gradient, [A, D] with the factor that d_q as backward() computes it lacks:
  // −v of the additive score without kernels.
  Tensor with_factor(const Tensor& W) const {
    return tape_.score == ScoreForm::additive && !cell_.has_kernels()
               ? W * tape_.v.neg().unsqueeze(1)
               : W;
  }
  // Computes h = tanh(k_s + q) of the steps up to t.
  void load_chunk(std::int64_t t) {
    first_ = std::max<std::int64_t>(0, t + 1 - chunk_);
    const auto q = tape_.queries.slice(0, first_, t + 1).unsqueeze(2);
    hidden_ = (tape_.keys + q).tanh_();  // [·, B, S, A]
    squares_ = hidden_.square();
  }
  void finish_chunk() {
    const auto d_e = d_e_.narrow(0, first_, hidden_.size(0)).contiguous();
    d_v_.addmv_(hidden_.flatten(0, 2).t(), d_e.flatten());
    d_keys_.add_(squares_.mul_(d_e.unsqueeze(3)).sum(0));
    hidden_ = squares_ = Tensor();
  }

  CompositeTape& tape_;
  CompositeCellSteps& cell_;
  Tensor W_;           // transposed, or undefined
  Tensor bias_;        // [B, S]: −∞ at padding
  Tensor padding_;     // [B, S], with kernels
  Tensor d_alpha_;     // [T, B, S] or undefined
  Tensor d_mixtures_;  // [T, 1, B, K · D]
  Tensor d_e_;         // [T, B, S]
  Tensor divisor_, is_large_;
  Tensor d_keys_, d_v_;  // with kernels, d_v is [B, A]
  std::int64_t chunk_ = 1;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();  // step of the chunk
  Tensor hidden_, squares_;                                        // h, h²
};

// The gradients of all states: those of the steps are their rows.
struct CompositeStateGradients {
  Tensor d_s;        // [T + 1, G, B, D], with that of the first state in front
  Tensor d_between;  // [T, G, B, D], of two cells

  void begin(std::int64_t /*t*/) const {}
  Tensor after(std::int64_t t) const { return d_s[t + 1]; }
  Tensor before(std::int64_t t) const { return d_s[t]; }
  Tensor between(std::int64_t t) const { return d_between[t]; }
  void end() const {}
};

// All steps and their gradients.
class CompositeLoop {
 public:
  explicit CompositeLoop(CompositeTape& tape)
      : is_lstm_(tape.form == CellForm::lstm), loop_(tape, tape.is_bf16) {
    if (tape.weights.defined()) loop_.attention.emplace(tape, *loop_.cell);
  }

  // b_U [G, 1, D] or undefined, padding [B, 1, S]. The gates of the tape hold the inputs.
  void forward(const Tensor& first_b_U, const Tensor& b_U, const Tensor& W, const Tensor& padding) {
    if (loop_.first_cell) loop_.first_cell->begin_forward(first_b_U, {});
    loop_.cell->begin_forward(b_U, W);
    if (loop_.attention) loop_.attention->begin_forward(padding);
    loop_.forward();
    if (loop_.attention) loop_.attention->end_forward();
  }

  // d_outputs [T, G, B, D]; d_weights [T, B, S] and d_memories [T, G, B, D] may be undefined.
  tensor_list backward(const Tensor& d_outputs, const Tensor& d_weights, const Tensor& d_memories) {
    auto& [T, first_cell, cell, attention] = loop_;
    CompositeStateGradients states = {
        torch::cat({torch::zeros_like(d_outputs.narrow(0, 0, 1)), d_outputs}).contiguous(), {}};
    if (first_cell) {
      first_cell->begin_backward({});
      states.d_between = torch::zeros(d_outputs.sizes(), d_outputs.options());
    }
    cell->begin_backward(attention ? attention->query_weight() : Tensor());
    if (attention) attention->begin_backward(d_weights);
    const auto d_c = is_lstm_ ? torch::zeros_like(states.d_s[0]) : Tensor();
    loop_.backward(states, d_c, d_memories);
    return loop_.gradients(states.d_s[0], d_c);
  }

 private:
  bool is_lstm_;
  RecurrenceLoop<CompositeCellSteps, CompositeAttention> loop_;
};

class CompositeRecurrence : public torch::autograd::Function<CompositeRecurrence> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& first,
                             const Maybe& first_U, const Maybe& first_b_U, const Tensor& U,
                             const Maybe& b_U, const Maybe& W, const Maybe& v, const Maybe& keys,
                             const Maybe& mixed, const Maybe& padding, std::int64_t form,
                             std::int64_t score, double scale) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    CompositeTape tape;
    tape.form = static_cast<CellForm>(form);
    tape.score = static_cast<ScoreForm>(score);
    tape.scale = scale;
    tape.is_bf16 = has_bf16_reference_products(x);
    tape.W = W.value_or(Tensor());
    tape.v = contiguous(v);
    tape.keys = contiguous(keys);
    tape.mixed = contiguous(mixed);
    const auto inputs = x.transpose(0, 1).clone(at::MemoryFormat::Contiguous);
    tape.cell =
        make_composite_cell_tape(tape.form, U, first_U ? torch::zeros_like(inputs) : inputs);
    if (first_U) tape.first_cell = make_composite_cell_tape(tape.form, *first_U, inputs);
    tape.create_results(inputs, first);
    if (keys) {
      const auto [T, B] = std::pair(x.size(1), x.size(2));
      if (tape.score == ScoreForm::additive || tape.score == ScoreForm::cosine) {
        tape.queries = torch::empty({T, B, keys->size(2)}, x.options());
      }
      if (tape.score == ScoreForm::cosine) tape.norms = torch::empty({T, B, 1}, x.options());
    }
    CompositeLoop(tape).forward(first_b_U.value_or(Tensor()), b_U.value_or(Tensor()), tape.W,
                                padding.value_or(Tensor()));
    save_tape(context, tape);
    context->saved_data["is_bf16"] = tape.is_bf16;
    return tape.results();
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto tape = restore_tape<CompositeTape>(context);
    tape.is_bf16 = context->saved_data["is_bf16"].toBool();
    const auto d_outputs =
        gradients[0].defined() ? gradients[0] : torch::zeros_like(states_after(tape.outputs));
    auto result =
        CompositeLoop(tape).backward(d_outputs, tape.weights.defined() ? gradients[1] : Tensor(),
                                     tape.memory.defined() ? gradients.back() : Tensor());
    result[0] = result[0].transpose(0, 1);
    return result;
  }
};

Recurrence composite(const Tensor& x, const Tensor& first, const RecurrentWeights& cells,
                     const std::optional<LoopAttention>& attention,
                     const RecurrentWeights* first_cells) {
  const auto all = run_recurrence<CompositeRecurrence>(
      x, first, cells, attention, first_cells,
      attention ? Maybe(padding_of(attention->score)) : std::nullopt);
  return {all.outputs.transpose(0, 1), all.weights,
          all.memory.defined() ? all.memory.transpose(0, 1) : Tensor()};
}

// One cell as G = 1 cells, and back.
RecurrentWeights as_group(const RecurrentWeights& cell) {
  return {cell.form, cell.U.unsqueeze(0),
          cell.b_U.defined() ? cell.b_U.view({1, 1, -1}) : Tensor()};
}
Recurrence without_group(const Recurrence& all) {
  return {all.outputs.squeeze(0), all.weights,
          all.memory.defined() ? all.memory.squeeze(0) : Tensor()};
}

}  // namespace

Recurrence recurrence_each_composite(const Tensor& x, const Tensor& first,
                                     const RecurrentWeights& cells) {
  return composite(x, first, cells, {}, nullptr);
}

Recurrence recurrence_composite(const Tensor& x, const Tensor& first, const RecurrentWeights& cell,
                                const std::optional<LoopAttention>& attention,
                                const RecurrentWeights* first_cell) {
  const auto before = first_cell ? as_group(*first_cell) : RecurrentWeights{};
  return without_group(composite(x.unsqueeze(0), first.unsqueeze(0), as_group(cell), attention,
                                 first_cell ? &before : nullptr));
}

}  // namespace regard::kernels
