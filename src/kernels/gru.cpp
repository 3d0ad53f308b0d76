#include "kernels/gru.h"

#include <torch/autograd.h>

#include "kernels/device.h"
#include "kernels/gru_rows.h"
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
// if this form of reset gate or score does not have it.
struct Tape {
  // The inputs.
  Tensor U, b_U, W, v, keys, mixed, lengths;
  // [W | U], the columns that multiply s_{t−1}: all of U with the reset gate after the product, the
  // columns of r and z with the reset gate before it. J is the width.
  Tensor joint_weight;  // [D, J]
  Tensor states;        // [T + 1, B, D], beginning with the first state
  Tensor joint;         // [T, B, J]: q_t | u_t
  Tensor gates;         // [T, B, 3D]
  Tensor reset;         // [T, B, D]: r ⊙ s_{t−1}, with the reset gate before the product
  Tensor weights;       // [T, B, S]

  static constexpr std::size_t size = 13;
  std::array<Tensor*, size> all() {
    return {&U,      &b_U,   &W,     &v,     &keys,   &mixed, &lengths, &joint_weight,
            &states, &joint, &gates, &reset, &weights};
  }
};

// The time loop and its gradient. J is the width of joint_weight, A the width of its first part, W:
// 0 if the query is the state itself.
template <typename T>
class Loop {
 public:
  Loop(Tape& tape, ScoreForm form, double scale)
      : tape_(tape),
        T_(tape.states.size(0) - 1),
        B_(tape.states.size(1)),
        D_(tape.states.size(2)),
        J_(tape.joint_weight.size(1)),
        A_(tape.W.defined() ? tape.W.size(0) : 0),
        U_candidate_(tape.U.narrow(1, 2 * D_, D_)),
        precision_(training_precision_for(tape.U)) {
    if (!tape.keys.defined()) return;
    attention_ =
        AttentionScore{form, tape.W, tape.v, scale, tape.keys, tape.lengths}.template buffers<T>();
    attention_->M = 3 * D_;
    attention_->mixed = data(tape.mixed);
  }

  void forward(const Tensor& x) {
    auto mixture = torch::empty({B_, 3 * D_}, x.options());  // x̂_t
    auto product = torch::empty({B_, D_}, x.options());      // U (r ⊙ s)
    const PackedMatrix joint_weight(tape_.joint_weight, precision_);
    const auto U_candidate = pack_candidate(U_candidate_);
    for (std::int64_t t = 0; t < T_; ++t) {
      joint_weight.multiply(tape_.states[t], tape_.joint[t]);
      const T* input = data(x[t]);
      if (attention_) {
        attend<T>(*attention_, query(t), input, data(tape_.weights[t]), data(mixture));
        input = data(mixture);
      }
      const T* s = data(tape_.states[t]);
      T* gates = data(tape_.gates[t]);
      T* next = data(tape_.states[t + 1]);
      if (tape_.b_U.defined()) {
        gru_after<T>(B_, D_, input, recurrent(t), data(tape_.b_U), s, gates, next);
      } else {
        const auto reset = tape_.reset[t];
        gru_before_reset<T>(B_, D_, input, recurrent(t), s, gates, data(reset));
        U_candidate->multiply(reset, product);
        gru_before_candidate<T>(B_, D_, input, data(product), s, gates, next);
      }
    }
  }

  struct Gradients {
    Tensor x, first, U, b_U, W, v, keys, mixed;
  };

  // d_states [T, B, D]; d_weights [T, B, S] or undefined.
  Gradients backward(const Tensor& d_states, const Tensor& d_weights) {
    const auto options = tape_.states.options();
    Gradients d;
    d.x = torch::empty({T_, B_, 3 * D_}, options);
    auto d_joint = torch::empty({T_, B_, J_}, options);
    Tensor d_product, d_reset, d_v, d_query;
    if (!tape_.b_U.defined()) {
      d_product = torch::empty({T_, B_, D_}, options);
      d_reset = torch::empty({B_, D_}, options);
    }
    if (attention_) {
      d.keys = torch::zeros_like(tape_.keys);
      if (tape_.v.defined()) d_v = torch::zeros({B_, A_}, options);
      if (!tape_.W.defined()) d_query = torch::empty({B_, D_}, options);
    }
    const PackedMatrix joint_weight_t(tape_.joint_weight.t(), precision_);
    const auto U_candidate_t = pack_candidate(U_candidate_.t());
    auto d_s = torch::zeros({B_, D_}, options);
    auto d_previous = torch::empty({B_, D_}, options);
    for (std::int64_t t = T_ - 1; t >= 0; --t) {
      d_s.add_(d_states[t]);
      const T* s = data(tape_.states[t]);
      const T* gates = data(tape_.gates[t]);
      T* d_x = data(d.x[t]);
      const Strided<T> d_q_u = {data(d_joint[t]), J_};  // d_q_t | d_u_t
      const Strided<T> d_u = {d_q_u.data + A_, J_};
      if (tape_.b_U.defined()) {
        gru_after_backward<T>(B_, D_, data(d_s), gates, recurrent(t), data(tape_.b_U), s, d_x, d_u,
                              data(d_previous));
      } else {
        const auto d_product_t = d_product[t];
        gru_before_candidate_backward<T>(B_, D_, data(d_s), gates, s, d_x, data(d_product_t),
                                         data(d_previous));
        U_candidate_t->multiply(d_product_t, d_reset);
        gru_before_reset_backward<T>(B_, D_, data(d_reset), gates, s, d_x, d_u, data(d_previous));
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
    d.first = d_s;
    add_weight_gradients(d, d_joint, d_product, d_v);
    return d;
  }

 private:
  static T* data(const Tensor& tensor) { return tensor.mutable_data_ptr<T>(); }

  Strided<const T> query(std::int64_t t) const {
    if (!tape_.W.defined()) return {data(tape_.states[t]), D_};
    return {data(tape_.joint[t]), J_};
  }
  Strided<const T> recurrent(std::int64_t t) const { return {data(tape_.joint[t]) + A_, J_}; }

  // Only the reset gate before the product has a second product per step.
  std::optional<PackedMatrix> pack_candidate(const Tensor& U_candidate) const {
    return tape_.b_U.defined()
               ? std::nullopt
               : std::optional<PackedMatrix>(std::in_place, U_candidate, precision_);
  }

  // Computes the gradient of each weight as one product over all steps, and those of m and v.
  void add_weight_gradients(Gradients& d, const Tensor& d_joint, const Tensor& d_product,
                            const Tensor& d_v) const {
    const auto rows = T_ * B_;
    const auto d_joint_weight =  // [D, J]
        matrix_product(tape_.states.narrow(0, 0, T_).view({rows, D_}).t(),
                       d_joint.view({rows, J_}));
    d.U = d_joint_weight.narrow(1, A_, J_ - A_);
    if (A_ > 0) d.W = d_joint_weight.narrow(1, 0, A_).t();
    if (tape_.b_U.defined()) {
      d.b_U = d_joint.narrow(2, A_ + 2 * D_, D_).sum(at::IntArrayRef{0, 1});
    } else {
      const auto d_U_candidate =
          matrix_product(tape_.reset.view({rows, D_}).t(), d_product.view({rows, D_}));
      d.U = torch::cat({d.U, d_U_candidate}, 1);
    }
    if (!attention_) return;
    d.mixed = tape_.weights.permute({1, 2, 0}).bmm(d.x.transpose(0, 1));  // [B, S, 3D]
    if (d_v.defined()) d.v = d_v.sum(0);
  }

  Tape& tape_;
  std::int64_t T_, B_, D_, J_, A_;
  Tensor U_candidate_;  // [D, D]
  Precision precision_;
  std::optional<AttentionBuffers<T>> attention_;
};

class GruFunction : public torch::autograd::Function<GruFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& first,
                             const Tensor& U, const Maybe& maybe_b_U, const Maybe& maybe_W,
                             const Maybe& maybe_v, const Maybe& maybe_keys,
                             const Maybe& maybe_mixed, const Maybe& maybe_lengths,
                             std::int64_t form, double scale) {
    const auto T = x.size(0);
    const auto B = x.size(1);
    const auto D = first.size(1);
    Tape tape;
    tape.U = U.contiguous();
    tape.b_U = contiguous(maybe_b_U);
    tape.W = contiguous(maybe_W);
    tape.v = contiguous(maybe_v);
    tape.keys = contiguous(maybe_keys);
    tape.mixed = contiguous(maybe_mixed);
    tape.lengths = contiguous(maybe_lengths);
    const bool reset_after = tape.b_U.defined();
    if (tape.keys.defined()) {
      tape.weights = torch::empty({T, B, tape.keys.size(1)}, x.options());
    }
    const auto recurrent = reset_after ? tape.U : tape.U.narrow(1, 0, 2 * D);
    tape.joint_weight = tape.W.defined() ? torch::cat({tape.W.t(), recurrent}, 1) : recurrent;
    tape.states = torch::empty({T + 1, B, D}, x.options());
    tape.states[0].copy_(first);
    tape.joint = torch::empty({T, B, tape.joint_weight.size(1)}, x.options());
    tape.gates = torch::empty({T, B, 3 * D}, x.options());
    if (!reset_after) tape.reset = torch::empty({T, B, D}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gru", [&] {
      Loop<scalar_t>(tape, static_cast<ScoreForm>(form), scale).forward(x.contiguous());
    });

    tensor_list saved;
    for (const auto* tensor : tape.all()) saved.push_back(*tensor);
    context->save_for_backward(saved);
    context->saved_data["form"] = form;
    context->saved_data["scale"] = scale;
    context->set_materialize_grads(false);
    tensor_list outputs = {tape.states.narrow(0, 1, T)};
    if (tape.weights.defined()) outputs.push_back(tape.weights);
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    Tape tape;
    const auto saved = context->get_saved_variables();
    const auto slots = tape.all();
    for (std::size_t i = 0; i < slots.size(); ++i) *slots[i] = saved[i];
    const auto form = static_cast<ScoreForm>(context->saved_data["form"].toInt());
    const auto scale = context->saved_data["scale"].toDouble();
    const auto d_states = gradients[0].defined()
                              ? gradients[0].contiguous()
                              : torch::zeros_like(tape.states.narrow(0, 1, tape.joint.size(0)));
    const auto d_weights =
        gradients.size() > 1 && gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    tensor_list result;
    AT_DISPATCH_FLOATING_TYPES(d_states.scalar_type(), "gru_backward", [&] {
      auto d = Loop<scalar_t>(tape, form, scale).backward(d_states, d_weights);
      result = {d.x, d.first, d.U, d.b_U, d.W, d.v, d.keys, d.mixed, Tensor(), Tensor(), Tensor()};
    });
    return result;
  }
};

}  // namespace

GruSequence gru(const Tensor& x, const Tensor& first, const Tensor& U, const Tensor& b_U,
                const std::optional<GruAttention>& attention) {
  if (!is_fused_on(x)) {
    return gru_reference(x, first, U, b_U, attention);
  }
  const auto [a, mixed] = attention.value_or(GruAttention{});
  const auto outputs = GruFunction::apply(x, first, U, maybe(b_U), maybe(a.W), maybe(a.v),
                                          maybe(a.keys), maybe(mixed), maybe(a.lengths),
                                          static_cast<std::int64_t>(a.form), a.scale);
  return {outputs[0], attention ? outputs[1] : Tensor()};
}

Tensor gru_step(const Tensor& x, const Tensor& s, const Tensor& U, const Tensor& b_U) {
  if (packed_weights_for(U) == nullptr) return gru_step_reference(x, s, U, b_U);
  const auto B = s.size(0);
  const auto D = s.size(1);
  const auto input = x.contiguous();
  const auto last = s.contiguous();
  const auto gates = torch::empty({B, 3 * D}, x.options());
  const auto next = torch::empty({B, D}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gru_step", [&] {
    using T = scalar_t;
    const T* x_rows = input.const_data_ptr<T>();
    const T* s_rows = last.const_data_ptr<T>();
    T* gate_rows = gates.mutable_data_ptr<T>();
    T* next_rows = next.mutable_data_ptr<T>();
    if (b_U.defined()) {
      const auto u = product(last, U);  // [B, 3D]
      gru_after<T>(B, D, x_rows, {u.const_data_ptr<T>(), 3 * D}, b_U.const_data_ptr<T>(), s_rows,
                   gate_rows, next_rows);
    } else {
      const auto u = product(last, U.narrow(1, 0, 2 * D));  // [B, 2D]
      const auto reset = torch::empty_like(last);           // r ⊙ s
      gru_before_reset<T>(B, D, x_rows, {u.const_data_ptr<T>(), 2 * D}, s_rows, gate_rows,
                          reset.mutable_data_ptr<T>());
      const auto v = product(reset, U.narrow(1, 2 * D, D));  // [B, D]
      gru_before_candidate<T>(B, D, x_rows, v.const_data_ptr<T>(), s_rows, gate_rows, next_rows);
    }
  });
  return next;
}

torch::Tensor gru_step_reference(const torch::Tensor& x, const torch::Tensor& s,
                                 const torch::Tensor& U, const torch::Tensor& b_U) {
  const auto D = s.size(1);
  const auto x_rz = x.narrow(1, 0, 2 * D);
  const auto x_candidate = x.narrow(1, 2 * D, D);
  if (b_U.defined()) {
    const auto u = product(s, U);  // [B, 3D]
    const auto gates = (x_rz + u.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
    const auto candidate = (x_candidate + gates[0] * (u.narrow(1, 2 * D, D) + b_U)).tanh();
    return torch::lerp(candidate, s, gates[1]);
  }
  const auto gates = add_product(x_rz, s, U.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
  const auto candidate = add_product(x_candidate, gates[0] * s, U.narrow(1, 2 * D, D)).tanh();
  return torch::lerp(candidate, s, gates[1]);  // z ⊙ s + (1 − z) ⊙ s̃
}

GruSequence gru_reference(const torch::Tensor& x, const torch::Tensor& first,
                          const torch::Tensor& U, const torch::Tensor& b_U,
                          const std::optional<GruAttention>& attention) {
  std::vector<torch::Tensor> states;
  std::vector<torch::Tensor> weights;
  auto s = first;
  for (auto x_t : x.unbind(0)) {
    if (attention) {
      weights.push_back(attention_weights_reference(attention->score, s));
      x_t = x_t + weights.back().unsqueeze(1).bmm(attention->mixed).squeeze(1);
    }
    s = gru_step_reference(x_t, s, U, b_U);
    states.push_back(s);
  }
  return {torch::stack(states), attention ? torch::stack(weights) : torch::Tensor()};
}

}  // namespace regard::kernels
