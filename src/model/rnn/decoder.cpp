#include "model/rnn/decoder.h"

#include <string>

#include "model/attention/table.h"
#include "model/initialisation.h"
#include "model/masked_mean.h"

namespace regard {

AttentionDecoder::AttentionDecoder(std::int64_t state_size, const ModelOptions& options)
    : initial_state_(options.decoder.initial_state),
      state_dropout_(options.dropout.states),
      readout_dropout_(options.dropout.readout) {
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

torch::Tensor AttentionDecoder::readout(const torch::Tensor& y, const torch::Tensor& s,
                                        const torch::Tensor& c) {
  return readout_dropout_((W_y_(y) + W_s_(s) + W_c_(c)).tanh());
}

DecoderStep AttentionDecoder::step(const torch::Tensor& embedded, const DecoderState& state,
                                   const Memory& memory) {
  const auto [context, weights] = attention_->step(state.layers[0], memory);
  DecoderState next;
  auto input = embedded;  // [B, E], further up [B, D]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    auto projected = layers_[l]->project(input.unsqueeze(0));  // [1, B, 3D]
    if (l == 0) projected = projected + C_(context);
    input = layers_[l]->step(projected, state.layers[l].unsqueeze(0)).squeeze(0);
    next.layers.push_back(input);
  }
  return {readout(embedded, input, context), weights, std::move(next)};
}

torch::Tensor AttentionDecoder::forward(const torch::Tensor& embedded, const Memory& memory) {
  const auto B = embedded.size(0);
  const auto T = embedded.size(1);
  const auto y = embedded.transpose(0, 1).contiguous();  // [T, B, E]
  const auto first = start(memory);

  // The bottom layer: state and attention in turn.
  std::vector<torch::Tensor> contexts;
  std::vector<torch::Tensor> states;
  const auto projected =
      layers_[0]->project(y.view({1, T * B, -1})).view({T, 1, B, -1});  // [T, 1, B, 3D]
  auto s = first.layers[0];
  for (const auto& x : projected.unbind(0)) {
    contexts.push_back(attention_->step(s, memory).context);
    s = layers_[0]->step(x + C_(contexts.back()), s.unsqueeze(0)).squeeze(0);
    states.push_back(s);
  }
  const auto c = torch::stack(contexts);  // [T, B, C]
  auto h = torch::stack(states);          // [T, B, D]

  // The layers above wait for the bottom's states only.
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const auto x = layers_[l]->project(state_dropout_(h).view({1, T * B, -1}));
    h = layers_[l]->sequence(x.view({T, 1, B, -1}), first.layers[l].unsqueeze(0)).squeeze(1);
  }
  return readout(y, h, c).transpose(0, 1);  // [B, T, R]
}

}  // namespace regard
