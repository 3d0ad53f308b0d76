#include "model/rnn/decoder.h"

#include <string>
#include <tuple>

#include "kernels/attention.h"
#include "kernels/functions.h"
#include "kernels/late_gradients.h"
#include "model/attention/table.h"

namespace regard {
namespace {

AttentionOptions with_dropout(AttentionOptions options, double dropout) {
  options.dropout = dropout;
  return options;
}

}  // namespace

RecurrentDecoder::RecurrentDecoder(std::int64_t state_size, const ModelOptions& options)
    : initial_state_(options.decoder.initial_state),
      attention_dropout_(std::make_shared<Dropout>(options.dropout.attention)),
      readout_dropout_(std::make_shared<Dropout>(options.dropout.readout)) {
  const auto& o = options.decoder;
  const auto E = o.embedding_dim;
  const auto D = o.hidden_size;
  attention_ = register_module(
      "attention",
      make_attention(D, state_size, with_dropout(options.attention, options.dropout.attention)));
  register_module("attention_dropout", attention_dropout_);
  for (std::int64_t l = 0; l < o.layers; ++l) {
    layers_.push_back(register_module("layer" + std::to_string(l),
                                      make_cell(o.cell, 1, l == 0 ? E : D, D, o.reset_gate)));
  }
  stack_ = register_module("stack", std::make_shared<Stack>(o.layers, D, o.residual, o.layer_norm,
                                                            options.dropout.states));
  const auto gates = layers_[0]->gates_size();
  query_ = o.query == Query::automatic ? attention_->default_query() : o.query;
  if (query_ == Query::last) C_ = register_module("C", Linear(state_size, gates, false));
  if (query_ == Query::between) {
    second_ = register_module("second", make_cell(o.cell, 1, state_size, D, o.reset_gate));
  }
  if (initial_state_ == InitialState::bridge || initial_state_ == InitialState::mean) {
    register_module("bridges", bridges_);
    for (std::int64_t l = 0; l < o.layers; ++l) {
      bridges_->push_back(Linear(state_size, layers_[0]->state_size()));
    }
  }
  W_y_ = register_module("W_y", Linear(E, o.readout_size));
  W_s_ = register_module("W_s", Linear(D, o.readout_size, false));
  W_c_ = register_module("W_c", Linear(state_size, o.readout_size, false));
  if (o.input_feeding) F_ = register_module("F", Linear(o.readout_size, gates, false));
  register_module("readout_dropout", readout_dropout_);
}

void RecurrentDecoder::prepare(Memory& memory) {
  attention_->prepare(memory);
  if (!attention_->is_mixture()) return;
  if (!C_.is_empty()) memory.gate_values = C_(memory.values);
  memory.readout_values = W_c_(memory.values);
}

DecoderState RecurrentDecoder::start(const Memory& memory) {
  DecoderState state;
  const auto source = initial_state_ == InitialState::mean
                          ? kernels::masked_mean(memory.values, memory.mask)
                          : memory.summary;  // [B, C]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (initial_state_ == InitialState::zero) {
      state.layers.push_back(source.new_zeros({source.size(0), layers_[l]->state_size()}));
    } else if (initial_state_ == InitialState::last) {
      const auto hidden = layers_[l]->state_size() - source.size(1);  // what is not shown is 0
      state.layers.push_back(torch::constant_pad_nd(source, {0, hidden}));
    } else {
      state.layers.push_back(kernels::tanh(bridges_[l]->as<Linear>()->forward(source)));
    }
  }
  state.attention = attention_->start(memory);
  if (!F_.is_empty()) state.readout = source.new_zeros({source.size(0), W_s_->weight.size(0)});
  return state;
}

RecurrentDecoder::Attended RecurrentDecoder::attend(const torch::Tensor& query,
                                                    const AttentionState& state,
                                                    const Memory& memory) {
  auto [weights, context, next, loss] = attention_->step(query, state, memory);
  const bool is_mixture = attention_->is_mixture();
  Attended attended;
  attended.weights = weights;
  attended.query = query;
  attended.state = std::move(next);
  attended.loss = std::move(loss);
  if (is_mixture) attended.mixing = attention_dropout_->forward(weights);
  const auto mixed = [&](const torch::Tensor& values) {
    return kernels::mix(attended.mixing, values, memory.lengths);
  };
  if (query_ == Query::last) {
    attended.gates = is_mixture ? mixed(memory.gate_values) : C_(context);
  } else if (query_ == Query::between) {
    if (is_mixture) context = mixed(memory.values);
    attended.gates = second_->project(context.unsqueeze(0))[0];
  }
  attended.context = context;
  return attended;
}

torch::Tensor RecurrentDecoder::read(const Attended& attended, const Memory& memory) {
  return attention_->is_mixture()
             ? kernels::mix(attended.mixing, memory.readout_values, memory.lengths)
             : W_c_(attended.context);
}

torch::Tensor RecurrentDecoder::readout(const torch::Tensor& y, const torch::Tensor& s,
                                        const torch::Tensor& attended) {
  return readout_dropout_->forward(kernels::tanh(W_y_(y) + W_s_(s) + attended));
}

DecoderStep RecurrentDecoder::step(const torch::Tensor& embedded, const DecoderState& state,
                                   const Memory& memory) {
  const auto x = layers_[0]->project(embedded.unsqueeze(0))[0];
  auto [readout, top, attended, next] = whole_step(x, embedded, state, memory);
  return {.readout = readout, .weights = attended.weights, .state = std::move(next), .top = top};
}

AttentionDetail RecurrentDecoder::explain(const torch::Tensor& embedded, const DecoderState& state,
                                          const Memory& memory) {
  const auto x = layers_[0]->project(embedded.unsqueeze(0))[0];
  const auto attended = whole_step(x, embedded, state, memory).attended;
  const auto scores = attention_->scores(attended.query, state.attention, memory);
  const auto heads = attention_->heads(attended.query, memory);
  return {.query = attended.query,
          .scores = scores,
          .context = attended.context.defined()
                         ? attended.context
                         : kernels::mix(attended.weights, memory.values, memory.lengths),
          .heads = heads.defined() ? std::vector{heads} : std::vector<torch::Tensor>(),
          .numbers = attention_->numbers(attended.query, state.attention, memory),
          .is_choice = attention_->is_choice()};
}

RecurrentDecoder::Bottom RecurrentDecoder::bottom_step(const torch::Tensor& x,
                                                       const torch::Tensor& s,
                                                       const AttentionState& attention,
                                                       const Memory& memory) {
  if (query_ == Query::last) {
    auto attended = attend(layers_[0]->shown(s), attention, memory);
    return {layers_[0]->step(x + attended.gates, s), std::move(attended)};
  }
  const auto first = layers_[0]->step(x, s);
  if (query_ == Query::fresh) return {first, {}};
  auto attended = attend(second_->shown(first), attention, memory);
  return {second_->step(attended.gates, first), std::move(attended)};
}

RecurrentDecoder::WholeStep RecurrentDecoder::whole_step(const torch::Tensor& x,
                                                         const torch::Tensor& y,
                                                         const DecoderState& state,
                                                         const Memory& memory) {
  const auto gates = F_.is_empty() ? x : x + F_(state.readout);
  auto [bottom, attended] = bottom_step(gates, state.layers[0], state.attention, memory);
  DecoderState next;
  next.layers.push_back(bottom);
  auto s = layers_[0]->shown(bottom);
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const auto input = stack_->input(l, s).unsqueeze(0);
    next.layers.push_back(layers_[l]->step(layers_[l]->project(input)[0], state.layers[l]));
    s = stack_->joined(l, s, layers_[l]->shown(next.layers.back()));
  }
  s = stack_->top(s);
  if (query_ == Query::fresh) attended = attend(s, state.attention, memory);
  const auto r = readout(y, s, read(attended, memory));
  if (!F_.is_empty()) next.readout = r;
  next.attention = attended.state;
  return {r, s, std::move(attended), std::move(next)};
}

RecurrentDecoder::Attended RecurrentDecoder::all_of(const std::vector<Attended>& steps) {
  const auto rows = [&](const auto& part) {  // [B, …] of each step -> [B · T, …]
    std::vector<torch::Tensor> tensors;
    for (const auto& step : steps) tensors.push_back(part(step));
    return tensors[0].defined() ? torch::stack(tensors, 1).flatten(0, 1) : torch::Tensor();
  };
  Attended all;
  all.weights = rows([](const auto& step) { return step.weights; });
  if (attention_->is_mixture()) {
    all.mixing = attention_dropout_->drops() ? rows([](const auto& step) { return step.mixing; })
                                             : all.weights;
  } else {
    all.context = rows([](const auto& step) { return step.context; });
  }
  all.loss = {rows([](const auto& step) { return step.loss.penalty; }),
              rows([](const auto& step) { return step.loss.log_choice; })};
  return all;
}

RecurrentDecoder::BottomLayer RecurrentDecoder::bottom_layer(const torch::Tensor& projected,
                                                             const DecoderState& first,
                                                             const Memory& memory) {
  auto s = first.layers[0];  // [B, state_size]
  if (query_ == Query::fresh) {
    return {layers_[0]->sequence(projected.unsqueeze(0), s.unsqueeze(0))[0], {}};
  }
  if (query_ == Query::last && attention_->is_constant()) {
    const auto attended = attend(layers_[0]->shown(s), {}, memory);
    const auto x = (projected + attended.gates).unsqueeze(0);  // [1, T, B, K · D]
    return {layers_[0]->sequence(x, s.unsqueeze(0))[0], attended};
  }
  const auto score = attention_->kernel_score(memory);
  if (query_ == Query::last && score && !attention_dropout_->drops()) {
    const auto all = layers_[0]->attended_sequence(projected, s, {*score, memory.gate_values});
    if (all) {
      Attended attended;
      attended.weights = all->weights.transpose(0, 1).flatten(0, 1);  // [B · T, S]
      attended.mixing = attended.weights;
      return {all->states, attended};
    }
  }
  const kernels::LateGradients late;
  std::vector<torch::Tensor> states;
  std::vector<Attended> attended;
  auto attention = first.attention;
  for (const auto& x : projected.unbind(0)) {
    auto step = bottom_step(x, s, attention, memory);
    s = step.state;
    attention = step.attended.state;
    states.push_back(layers_[0]->shown(s));
    attended.push_back(std::move(step.attended));
  }
  return {torch::stack(states), all_of(attended)};
}

Decoded RecurrentDecoder::fed_steps(const torch::Tensor& projected, const torch::Tensor& y,
                                    DecoderState state, const Memory& memory) {
  const kernels::LateGradients late;
  std::vector<torch::Tensor> readouts;
  std::vector<torch::Tensor> tops;
  std::vector<Attended> attended;
  for (std::int64_t t = 0; t < y.size(0); ++t) {
    auto step = whole_step(projected[t], y[t], state, memory);
    readouts.push_back(step.readout);
    tops.push_back(step.top);
    attended.push_back(std::move(step.attended));
    state = std::move(step.state);
  }
  return decoded(torch::stack(readouts, 1), torch::stack(tops, 1), all_of(attended));
}

RecurrentDecoder::Attended RecurrentDecoder::attend_all(const torch::Tensor& h,
                                                        AttentionState state,
                                                        const Memory& memory) {
  const auto [T, B, D] = std::tuple(h.size(0), h.size(1), h.size(2));
  const auto known = state.empty() ? state : attention_->known_states(T, memory);
  if (known) {
    const auto queries = h.transpose(0, 1).reshape({B * T, D});  // T in a row for each sentence
    return attend(queries, *known, memory);
  }
  const kernels::LateGradients late;
  std::vector<Attended> steps;
  for (const auto& s : h.unbind(0)) {
    steps.push_back(attend(s, state, memory));
    state = steps.back().state;
  }
  return all_of(steps);
}

Decoded RecurrentDecoder::forward(const torch::Tensor& embedded, const Memory& memory) {
  const auto B = embedded.size(0);
  const auto T = embedded.size(1);
  const auto y = embedded.transpose(0, 1).contiguous();  // [T, B, E]
  const auto first = start(memory);
  const auto projected =
      layers_[0]->project(y.view({1, T * B, -1})).view({T, B, -1});  // [T, B, K · D]
  if (!F_.is_empty()) return fed_steps(projected, y, first, memory);
  auto [h, attended] = bottom_layer(projected, first, memory);

  // The layers above wait for the bottom's states only.
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const auto x = layers_[l]->project(stack_->input(l, h).reshape({1, T * B, -1}));
    const auto of_layer =
        layers_[l]->sequence(x.view({1, T, B, -1}), first.layers[l].unsqueeze(0))[0];
    h = stack_->joined(l, h, of_layer);
  }
  h = stack_->top(h);
  if (query_ == Query::fresh) attended = attend_all(h, first.attention, memory);
  const auto share =
      read(attended, memory).unflatten(0, {B, -1}).transpose(0, 1);  // [T or 1, B, R]
  return decoded(readout(y, h, share).transpose(0, 1), h.transpose(0, 1), attended);
}

Decoded RecurrentDecoder::decoded(const torch::Tensor& readout, const torch::Tensor& top,
                                  const Attended& attended) {
  const auto by_step = [&](const torch::Tensor& x) {
    return x.defined() ? x.unflatten(0, {readout.size(0), -1}) : x;
  };
  return {.readout = readout,
          .weights = by_step(attended.weights),
          .top = top,
          .attention_loss = {by_step(attended.loss.penalty), by_step(attended.loss.log_choice)}};
}

}  // namespace regard
