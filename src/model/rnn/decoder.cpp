#include "model/rnn/decoder.h"

#include <string>
#include <tuple>
#include <utility>

#include "kernels/attention.h"
#include "kernels/functions.h"
#include "kernels/mode.h"
#include "model/attention/table.h"

namespace regard {
namespace {

// Indices of the tensors that prepare() stores in DecoderContext.
constexpr std::size_t gate_values = 0;     // C h_s [B, S, K · D], or C c [B, K · D]
constexpr std::size_t readout_values = 1;  // W_c h_s [B, S, R], or W_c c [B, R]

}  // namespace

RecurrentDecoder::RecurrentDecoder(std::int64_t encoder_state_size, const ModelOptions& options)
    : initial_state_(options.decoder.initial_state),
      attention_dropout_(std::make_shared<Dropout>(options.dropout.attention)),
      readout_dropout_(std::make_shared<Dropout>(options.dropout.readout)) {
  const auto& o = options.decoder;
  const auto E = o.embedding_dim;
  const auto D = o.hidden_size;
  attention_ = register_module("attention", make_attention(D, encoder_state_size, options.attention,
                                                           options.dropout.attention));
  register_module("attention_dropout", attention_dropout_);
  for (std::int64_t l = 0; l < o.layers; ++l) {
    layers_.push_back(
        register_module("layer" + std::to_string(l),
                        std::make_shared<Cell>(o.cell, 1, l == 0 ? E : D, D, o.reset_gate)));
  }
  stack_ = register_module("stack", std::make_shared<Stack>(o.layers, D, o.residual, o.layer_norm,
                                                            options.dropout.states));
  const auto gates = layers_[0]->gates_size();
  query_ = o.query == Query::automatic ? default_query(options.attention.kind) : o.query;
  const bool has_context = attention_->traits().has_context;
  if (!has_context) query_ = Query::new_;  // the state does not depend on a context
  if (query_ == Query::last) C_ = register_module("C", Linear(encoder_state_size, gates, false));
  if (query_ == Query::between) {
    second_cell_ = register_module(
        "second", std::make_shared<Cell>(o.cell, 1, encoder_state_size, D, o.reset_gate));
  }
  if (initial_state_ == InitialState::bridge || initial_state_ == InitialState::mean) {
    register_module("bridges", bridges_);
    for (std::int64_t l = 0; l < o.layers; ++l) {
      bridges_->push_back(Linear(encoder_state_size, layers_[0]->state_size()));
    }
  }
  W_y_ = register_module("W_y", Linear(E, o.readout_size));
  W_s_ = register_module("W_s", Linear(D, o.readout_size, false));
  if (has_context) W_c_ = register_module("W_c", Linear(encoder_state_size, o.readout_size, false));
  if (o.input_feeding) F_ = register_module("F", Linear(o.readout_size, gates, false));
  register_module("readout_dropout", readout_dropout_);
}

void RecurrentDecoder::prepare(EncoderOutput& encoded) {
  attention_->prepare(encoded);
  if (!has_prepared_values()) return;
  // C c_t = C Σ_s α_ts h_s = Σ_s α_ts (C h_s), and C h_s is the same at every step. The same holds
  // for W_c, and for a context that is the same at every step.
  const auto sources =
      attention_->traits().is_constant ? attention_->constant_context(encoded) : encoded.states;
  DecoderContext::Tensors values(2);
  if (!C_.is_empty()) values[gate_values] = C_(sources);
  values[readout_values] = W_c_(sources);
  encoded.context.set(this, std::move(values));
}

DecoderState RecurrentDecoder::initial_state(const EncoderOutput& encoded) {
  DecoderState state;
  if (initial_state_ == InitialState::layers) state.layers = encoded.last_states;
  const auto source = initial_state_ == InitialState::mean
                          ? kernels::masked_mean(encoded.states, encoded.mask)
                          : encoded.summary;  // [B, C]
  for (std::size_t l = state.layers.size(); l < layers_.size(); ++l) {
    if (initial_state_ == InitialState::zero) {
      state.layers.push_back(source.new_zeros({source.size(0), layers_[l]->state_size()}));
    } else if (initial_state_ == InitialState::last) {
      const auto cell_state_size = layers_[l]->state_size() - source.size(1);  // 0 unless LSTM
      state.layers.push_back(torch::constant_pad_nd(source, {0, cell_state_size}));
    } else {
      state.layers.push_back(kernels::tanh(bridges_[l]->as<Linear>()->forward(source)));
    }
  }
  state.attention = attention_->initial_state(encoded);
  if (!F_.is_empty()) state.readout = source.new_zeros({source.size(0), W_s_->weight.size(0)});
  return state;
}

RecurrentDecoder::AttentionResult RecurrentDecoder::make_attention_result(
    AttentionStep step, const torch::Tensor& query, const EncoderOutput& encoded) {
  const bool is_mixture = attention_->traits().is_mixture;
  AttentionResult attended;
  attended.weights = step.weights;
  attended.context = step.context;
  attended.query = query;
  attended.state = std::move(step.state);
  attended.loss = std::move(step.loss);
  if (is_mixture) attended.mixture_weights = attention_dropout_->forward(step.weights);
  if (query_ == Query::last) {
    attended.gates = has_prepared_values() ? prepared_values(attended, encoded, gate_values)
                                           : C_(attended.context);
  } else if (query_ == Query::between) {
    if (is_mixture) {
      attended.context = kernels::mix(attended.mixture_weights, encoded.states, encoded.lengths);
    }
    attended.gates = second_cell_->project(attended.context.unsqueeze(0))[0];
  }
  return attended;
}

RecurrentDecoder::AttentionResult RecurrentDecoder::attend(const torch::Tensor& query,
                                                           const AttentionState& state,
                                                           const EncoderOutput& encoded) {
  return make_attention_result(attention_->step(query, state, encoded), query, encoded);
}

torch::Tensor RecurrentDecoder::context_term(const AttentionResult& attended,
                                             const EncoderOutput& encoded) {
  if (W_c_.is_empty()) return {};
  return has_prepared_values() ? prepared_values(attended, encoded, readout_values)
                               : W_c_(attended.context);
}

bool RecurrentDecoder::has_prepared_values() const {
  const auto& traits = attention_->traits();
  return traits.is_mixture || (traits.is_constant && traits.has_context);
}

torch::Tensor RecurrentDecoder::prepared_values(const AttentionResult& attended,
                                                const EncoderOutput& encoded,
                                                std::size_t index) const {
  const auto& values = encoded.context.at(this)[index];
  return attention_->traits().is_mixture
             ? kernels::mix(attended.mixture_weights, values, encoded.lengths)
             : repeat_rows(values, attended.context.size(0));
}

RecurrentDecoder::BottomLayerOutput RecurrentDecoder::bottom_layer_step(
    const torch::Tensor& x, const torch::Tensor& s, const AttentionState& attention,
    const EncoderOutput& encoded) {
  if (query_ == Query::last) {
    auto attended = attend(layers_[0]->hidden_output(s), attention, encoded);
    return {layers_[0]->step(x + attended.gates, s), std::move(attended)};
  }
  const auto first = layers_[0]->step(x, s);
  if (query_ == Query::new_) return {first, {}};
  auto attended = attend(second_cell_->hidden_output(first), attention, encoded);
  return {second_cell_->step(attended.gates, first), std::move(attended)};
}

template <typename Run>
torch::Tensor RecurrentDecoder::upper_layers(torch::Tensor h, Run run) const {
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    h = stack_->add_residual(l, h, run(l, stack_->layer_input(l, h)));
  }
  return stack_->final_norm(h);
}

torch::Tensor RecurrentDecoder::readout(const torch::Tensor& y, const torch::Tensor& s,
                                        const torch::Tensor& context_term) {
  const auto sum = W_y_(y) + W_s_(s);
  return readout_dropout_->forward(
      kernels::tanh(context_term.defined() ? sum + context_term : sum));
}

RecurrentDecoder::Step RecurrentDecoder::advance(const torch::Tensor& x, const torch::Tensor& y,
                                                 const DecoderState& state,
                                                 const EncoderOutput& encoded) {
  const auto gates = F_.is_empty() ? x : x + F_(state.readout);
  auto [bottom, attended] = bottom_layer_step(gates, state.layers[0], state.attention, encoded);
  DecoderState next;
  next.layers.push_back(bottom);
  const auto s = upper_layers(layers_[0]->hidden_output(bottom),
                              [&](std::size_t l, const torch::Tensor& input) {
                                const auto projected = layers_[l]->project(input.unsqueeze(0))[0];
                                next.layers.push_back(layers_[l]->step(projected, state.layers[l]));
                                return layers_[l]->hidden_output(next.layers.back());
                              });
  if (query_ == Query::new_) attended = attend(s, state.attention, encoded);
  const auto r = readout(y, s, context_term(attended, encoded));
  if (!F_.is_empty()) next.readout = r;
  next.attention = attended.state;
  return {r, s, std::move(attended), std::move(next)};
}

DecoderStep RecurrentDecoder::step(const torch::Tensor& embedded, const DecoderState& state,
                                   const EncoderOutput& encoded, bool /*want_weights*/,
                                   AttentionDetail* detail) {
  const auto x = layers_[0]->project(embedded.unsqueeze(0))[0];
  auto [readout, hidden, attended, next] = advance(x, embedded, state, encoded);
  if (detail != nullptr) {
    *detail = attention_->explain(attended.query, state.attention, encoded);
    detail->query = attended.query;
    detail->context = attended.context;
    if (!detail->context.defined() && attended.weights.defined()) {
      detail->context = kernels::mix(attended.weights, encoded.states, encoded.lengths);
    }
    detail->is_hard = attention_->traits().is_hard;
  }
  return {
      .readout = readout, .weights = attended.weights, .state = std::move(next), .hidden = hidden};
}

template <typename OneStep>
RecurrentDecoder::AttentionResult RecurrentDecoder::run_steps(std::int64_t T, OneStep step) {
  const auto deferred = kernels::Mode::time_loop();
  std::vector<AttentionResult> steps;
  for (std::int64_t t = 0; t < T; ++t) steps.push_back(step(static_cast<std::size_t>(t)));
  const auto stacked = [&](const auto& part) {  // T parts [B, …] -> [B · T, …]
    std::vector<torch::Tensor> tensors;
    for (const auto& one : steps) tensors.push_back(part(one));
    return tensors[0].defined() ? torch::stack(tensors, 1).flatten(0, 1) : torch::Tensor();
  };
  AttentionResult all;
  all.weights = stacked([](const auto& one) { return one.weights; });
  if (attention_->traits().is_mixture) {
    all.mixture_weights = attention_dropout_->is_active()
                              ? stacked([](const auto& one) { return one.mixture_weights; })
                              : all.weights;
  } else {
    all.context = stacked([](const auto& one) { return one.context; });
  }
  all.loss = {stacked([](const auto& one) { return one.loss.penalty; }),
              stacked([](const auto& one) { return one.loss.sampled_log_p; })};
  return all;
}

torch::Tensor RecurrentDecoder::run_layer(std::size_t l, const torch::Tensor& x,
                                          const torch::Tensor& first) {
  auto& cell = *layers_[l];
  if (kernels::can_fuse_steps(x)) {
    return cell.sequence(x.unsqueeze(0), first.unsqueeze(0))[0];
  }
  auto s = first;
  std::vector<torch::Tensor> outputs;
  for (const auto& x_t : x.unbind(0)) {
    s = cell.step(x_t, s);
    outputs.push_back(cell.hidden_output(s));
  }
  return torch::stack(outputs);
}

RecurrentDecoder::BottomLayerOutput RecurrentDecoder::bottom_layer_all_steps(
    const torch::Tensor& x, const DecoderState& first, const EncoderOutput& encoded) {
  auto s = first.layers[0];  // [B, state_size]
  if (query_ == Query::new_) return {run_layer(0, x, s), {}};
  if (query_ == Query::last && attention_->traits().is_constant) {
    const auto attended = attend(layers_[0]->hidden_output(s), {}, encoded);
    return {run_layer(0, x + attended.gates, s), attended};
  }
  const auto score = attention_->fused_score(encoded);
  const bool can_fuse = !attention_dropout_->is_active() && kernels::can_fuse_steps(x);
  if (score && can_fuse) {
    const auto all =
        query_ == Query::last
            ? layers_[0]->sequence_with_attention(x, s,
                                                  {*score, encoded.context.at(this)[gate_values]})
            // Weights without dropout have the sum 1: W c + b = Σ_s α_s (W h_s + b).
            : layers_[0]->sequence_with_second(
                  x, s, *second_cell_,
                  {*score, second_cell_->project(encoded.states.flatten(0, 1).unsqueeze(0))
                               .view({encoded.states.size(0), encoded.states.size(1), -1})});
    AttentionResult attended;
    attended.weights = all.weights.transpose(0, 1).flatten(0, 1);  // [B · T, S]
    attended.mixture_weights = attended.weights;
    return {all.outputs, attended};
  }
  const auto inputs = x.unbind(0);
  std::vector<torch::Tensor> states;
  auto attention = first.attention;
  auto attended = run_steps(x.size(0), [&](std::size_t t) {
    auto step = bottom_layer_step(inputs[t], s, attention, encoded);
    s = step.states;
    attention = step.attended.state;
    states.push_back(layers_[0]->hidden_output(s));
    return std::move(step.attended);
  });
  return {torch::stack(states), std::move(attended)};
}

RecurrentDecoder::AttentionResult RecurrentDecoder::attend_all_steps(const torch::Tensor& h,
                                                                     const AttentionState& first,
                                                                     const EncoderOutput& encoded) {
  const auto [T, B, D] = std::tuple(h.size(0), h.size(1), h.size(2));
  const auto queries = h.transpose(0, 1).reshape({B * T, D});
  if (auto all = attention_->all_steps(queries, first, encoded)) {
    return make_attention_result(std::move(*all), queries, encoded);
  }
  const auto query_of_step = h.unbind(0);
  auto state = first;
  return run_steps(T, [&](std::size_t t) {
    auto attended = attend(query_of_step[t], state, encoded);
    state = attended.state;
    return attended;
  });
}

DecoderOutput RecurrentDecoder::forward(const torch::Tensor& embedded, const EncoderOutput& encoded,
                                        bool /*want_weights*/,
                                        std::vector<torch::Tensor>* /*self_attention*/) {
  const auto B = embedded.size(0);
  const auto T = embedded.size(1);
  const auto y = embedded.transpose(0, 1).contiguous();  // [T, B, E]
  const auto first = initial_state(encoded);
  const auto x = layers_[0]->project(y.view({1, T * B, -1})).view({T, B, -1});  // [T, B, K · D]

  if (!F_.is_empty()) {  // each step needs the previous readout
    const auto xs = x.unbind(0);
    const auto ys = y.unbind(0);
    std::vector<torch::Tensor> readouts;
    std::vector<torch::Tensor> hidden;
    auto state = first;
    const auto attended = run_steps(T, [&](std::size_t t) {
      auto step = advance(xs[t], ys[t], state, encoded);
      readouts.push_back(step.readout);
      hidden.push_back(step.hidden);
      state = std::move(step.state);
      return std::move(step.attended);
    });
    return make_decoder_output(torch::stack(readouts, 1), torch::stack(hidden, 1), attended);
  }

  auto [bottom, attended] = bottom_layer_all_steps(x, first, encoded);
  const auto s = upper_layers(bottom, [&](std::size_t l, const torch::Tensor& input) {
    const auto projected = layers_[l]->project(input.reshape({1, T * B, -1}));
    return run_layer(l, projected.view({T, B, -1}), first.layers[l]);
  });  // [T, B, D]
  if (query_ == Query::new_) attended = attend_all_steps(s, first.attention, encoded);
  auto c = context_term(attended, encoded);
  if (c.defined()) c = c.unflatten(0, {B, -1}).transpose(0, 1);
  return make_decoder_output(readout(y, s, c).transpose(0, 1), s.transpose(0, 1), attended);
}

DecoderOutput RecurrentDecoder::make_decoder_output(const torch::Tensor& readout,
                                                    const torch::Tensor& hidden,
                                                    const AttentionResult& attended) {
  const auto by_step = [&](const torch::Tensor& x) {  // [B · T, …] -> [B, T, …]
    return x.defined() ? x.unflatten(0, {readout.size(0), -1}) : x;
  };
  return {.readout = readout,
          .weights = by_step(attended.weights),
          .hidden = hidden,
          .attention_loss = {by_step(attended.loss.penalty), by_step(attended.loss.sampled_log_p)}};
}

}  // namespace regard
