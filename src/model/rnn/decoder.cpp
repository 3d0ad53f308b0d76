#include "model/rnn/decoder.h"

#include <string>

#include "model/attention/table.h"
#include "model/initialisation.h"
#include "model/masked_mean.h"

namespace regard {

AttentionDecoder::AttentionDecoder(std::int64_t state_size, const ModelOptions& options)
    : initial_state_(options.decoder.initial_state),
      state_dropout_(std::make_shared<Dropout>(options.dropout.states)),
      readout_dropout_(std::make_shared<Dropout>(options.dropout.readout)) {
  const auto& o = options.decoder;
  const auto E = o.embedding_dim;
  const auto D = o.hidden_size;
  attention_ = register_module("attention", make_attention(D, state_size, options.attention));
  for (std::int64_t l = 0; l < o.layers; ++l) {
    layers_.push_back(
        register_module("layer" + std::to_string(l),
                        std::make_shared<GruCell>(1, l == 0 ? E : D, D, o.reset_gate)));
  }
  C_ = register_module("C", make_linear(state_size, 3 * D, false));
  if (initial_state_ == InitialState::bridge || initial_state_ == InitialState::mean) {
    register_module("bridges", bridges_);
    for (std::int64_t l = 0; l < o.layers; ++l) bridges_->push_back(make_linear(state_size, D));
  }
  W_y_ = register_module("W_y", make_linear(E, o.readout_size));
  W_s_ = register_module("W_s", make_linear(D, o.readout_size, false));
  W_c_ = register_module("W_c", make_linear(state_size, o.readout_size, false));
  register_module("state_dropout", state_dropout_);
  register_module("readout_dropout", readout_dropout_);
}

void AttentionDecoder::prepare(Memory& memory) {
  attention_->prepare(memory);
  if (!attention_->is_mixture()) return;
  memory.gate_values = C_(memory.values);
  memory.readout_values = W_c_(memory.values);
}

DecoderState AttentionDecoder::start(const Memory& memory) {
  DecoderState state;
  const auto source = initial_state_ == InitialState::mean ? masked_mean(memory.values, memory.mask)
                                                           : memory.summary;  // [B, C]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (initial_state_ == InitialState::zero) {
      state.layers.push_back(source.new_zeros({source.size(0), layers_[l]->hidden_size()}));
    } else if (initial_state_ == InitialState::last) {
      state.layers.push_back(source);
    } else {
      state.layers.push_back(bridges_[l]->as<torch::nn::Linear>()->forward(source).tanh());
    }
  }
  return state;
}

AttentionDecoder::Attended AttentionDecoder::attend(const torch::Tensor& query,
                                                    const Memory& memory) {
  const auto [weights, context] = attention_->step(query, memory);
  if (context.defined()) return {C_(context), W_c_(context), weights};
  return {mix(weights, memory.gate_values), mix(weights, memory.readout_values), weights};
}

torch::Tensor AttentionDecoder::readout(const torch::Tensor& y, const torch::Tensor& s,
                                        const torch::Tensor& attended) {
  return readout_dropout_->forward((W_y_(y) + W_s_(s) + attended).tanh());
}

DecoderStep AttentionDecoder::step(const torch::Tensor& embedded, const DecoderState& state,
                                   const Memory& memory) {
  const auto attended = attend(state.layers[0], memory);
  DecoderState next;
  auto input = embedded;  // [N, E], further up [N, D]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    auto projected = layers_[l]->project(input.unsqueeze(0))[0];  // [N, 3D]
    if (l == 0) projected = projected + attended.gates;
    input = layers_[l]->step(projected, state.layers[l]);
    next.layers.push_back(input);
  }
  return {readout(embedded, input, attended.readout), attended.weights, std::move(next)};
}

AttentionDecoder::BottomLayer AttentionDecoder::bottom_layer(const torch::Tensor& projected,
                                                             torch::Tensor s,
                                                             const Memory& memory) {
  if (attention_->is_constant()) {
    const auto attended = attend(s, memory);
    const auto x = (projected + attended.gates).unsqueeze(0);  // [1, T, B, 3D]
    return {layers_[0]->sequence(x, s.unsqueeze(0))[0], attended.readout.unsqueeze(0)};
  }
  if (const auto score = attention_->kernel_score(memory)) {
    const auto [states, weights] = layers_[0]->sequence(projected, s, {*score, memory.gate_values});
    return {states, weights.transpose(0, 1).bmm(memory.readout_values).transpose(0, 1)};
  }
  std::vector<torch::Tensor> states;
  std::vector<torch::Tensor> readouts;
  for (const auto& x : projected.unbind(0)) {
    const auto attended = attend(s, memory);
    s = layers_[0]->step(x + attended.gates, s);
    states.push_back(s);
    readouts.push_back(attended.readout);
  }
  return {torch::stack(states), torch::stack(readouts)};
}

torch::Tensor AttentionDecoder::forward(const torch::Tensor& embedded, const Memory& memory) {
  const auto B = embedded.size(0);
  const auto T = embedded.size(1);
  const auto y = embedded.transpose(0, 1).contiguous();  // [T, B, E]
  const auto first = start(memory);
  const auto projected =
      layers_[0]->project(y.view({1, T * B, -1})).view({T, B, -1});  // [T, B, 3D]
  auto [h, attended] = bottom_layer(projected, first.layers[0], memory);

  // The layers above wait for the bottom's states only.
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const auto x = layers_[l]->project(state_dropout_->forward(h).reshape({1, T * B, -1}));
    h = layers_[l]->sequence(x.view({1, T, B, -1}), first.layers[l].unsqueeze(0))[0];
  }
  return readout(y, h, attended).transpose(0, 1);  // [B, T, R]
}

}  // namespace regard
