// The attention decoder, a stack of GRUs, LSTMs or simple cells (cell.h, stack.h); the equations
// for a GRU. As in Bahdanau, Cho, Bengio 2015 (sections 3.1, A.2.2):
//
//   c_t = attention(s_{t−1}, h)                  the bottom layer's old state asks (query: last)
//   r = σ(W_r y_{t−1} + U_r s_{t−1} + C_r c_t + b_r), z likewise
//   s̃ = tanh(W y_{t−1} + U [r ⊙ s_{t−1}] + C c_t + b)
//   s_t = z ⊙ s_{t−1} + (1 − z) ⊙ s̃
//   readout_t = tanh(W_y y_{t−1} + W_s s_t + W_c c_t + b)        s_t the top layer's
//
// As in Luong, Pham, Manning 2015 the new state asks (query: new): s_t comes of y_{t−1} and s_{t−1}
// alone, and c_t = attention(s_t, h), s_t the top layer's, goes into the readout only. In the
// conditional GRU of Nematus (Sennrich et al. 2017) the bottom layer makes two steps (query:
// between): s'_t = GRU_1(y_{t−1}, s_{t−1}), c_t = attention(s'_t, h), s_t = GRU_2(c_t, s'_t).
// With input feeding (Luong), F readout_{t−1} is added to the gates of the first step.
//
// Layer l begins with tanh(W_l h + b_l), h the encoder's last states (initial_state: bridge) or the
// mean of all (mean), with these states themselves, an LSTM's memory at 0 (last), or with 0 (zero).
// Dropout falls on the weights that mix a context, on what an upper layer reads (stack.h), and on
// the readout.
//
// Only what waits for the last state is done step by step, the rest for all steps at once.
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/decoder.h"
#include "model/dropout.h"
#include "model/linear.h"
#include "model/rnn/cell.h"
#include "model/rnn/stack.h"

namespace regard {

class RecurrentDecoder : public Decoder {
 public:
  // state_size is the encoder's width C.
  RecurrentDecoder(std::int64_t state_size, const ModelOptions& options);

  void prepare(Memory& memory) override;
  DecoderState start(const Memory& memory) override;  // s_0 of every layer
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                   const Memory& memory) override;
  AttentionDetail explain(const torch::Tensor& embedded, const DecoderState& state,
                          const Memory& memory) override;
  Decoded forward(const torch::Tensor& embedded, const Memory& memory) override;
  void at_step(std::int64_t step) override { attention_->at_step(step); }
  bool shows_attention() const override { return attention_->has_weights(); }
  std::int64_t readout_size() const override { return W_y_->weight.size(0); }

 private:
  // What a step of attention gives.
  struct Attended {
    torch::Tensor gates;    // [N, K · D], its share of them, undefined where the new state asks
    torch::Tensor weights;  // [N, S] or undefined
    torch::Tensor mixing;   // [N, S], the weights that mix a context, of a mixture
    torch::Tensor context;  // [N, C], where it was needed
    torch::Tensor query;    // [N, D], which asked
    AttentionState state;
    AttentionLoss loss;
  };
  Attended attend(const torch::Tensor& query, const AttentionState& state, const Memory& memory);
  // W_c c_t, its share of the readout: [N, R].
  torch::Tensor read(const Attended& attended, const Memory& memory);

  // One step of the bottom layer: x [N, K · D] the input's share of the gates, s [N, state_size].
  // Where the new state asks, nothing is attended yet.
  struct Bottom {
    torch::Tensor state;  // [N, state_size]
    Attended attended;
  };
  Bottom bottom_step(const torch::Tensor& x, const torch::Tensor& s,
                     const AttentionState& attention, const Memory& memory);
  // One step of everything; y [N, E].
  struct WholeStep {
    torch::Tensor readout;  // [N, R]
    torch::Tensor top;      // [N, D], the top layer's state
    Attended attended;
    DecoderState state;
  };
  WholeStep whole_step(const torch::Tensor& x, const torch::Tensor& y, const DecoderState& state,
                       const Memory& memory);

  // Of T steps, what outlasts them: T rows for each sentence.
  Attended all_of(const std::vector<Attended>& steps);

  struct BottomLayer {
    torch::Tensor states;  // [T, B, D]
    Attended attended;     // of all steps, if it was asked
  };
  // All steps of the bottom layer: projected [T, B, K · D].
  BottomLayer bottom_layer(const torch::Tensor& projected, const DecoderState& first,
                           const Memory& memory);
  // All steps, each of which waits for the readout before: y [T, B, E].
  Decoded fed_steps(const torch::Tensor& projected, const torch::Tensor& y, DecoderState state,
                    const Memory& memory);
  // All steps of attention asked by new states h [T, B, D].
  Attended attend_all(const torch::Tensor& h, AttentionState state, const Memory& memory);
  torch::Tensor readout(const torch::Tensor& y, const torch::Tensor& s,
                        const torch::Tensor& attended);
  // readout [B, T, R], top [B, T, D], attended: of all steps.
  static Decoded decoded(const torch::Tensor& readout, const torch::Tensor& top,
                         const Attended& attended);

  InitialState initial_state_;
  std::shared_ptr<Attention> attention_;
  std::vector<std::shared_ptr<Cell>> layers_;
  std::shared_ptr<Stack> stack_;
  Query query_;
  Linear C_{nullptr};              // [K · D, C], the context's share of the gates; query: last
  std::shared_ptr<Cell> second_;   // GRU_2; query: between
  Linear F_{nullptr};              // [K · D, R], the last readout's share; input feeding
  torch::nn::ModuleList bridges_;  // W_l [state_size, C], with b, of each layer
  Linear W_y_{nullptr};            // [R, E], with b
  Linear W_s_{nullptr};            // [R, D]
  Linear W_c_{nullptr};            // [R, C]
  std::shared_ptr<Dropout> attention_dropout_;  // of a mixture's weights, one mask for all it mixes
  std::shared_ptr<Dropout> readout_dropout_;
};

}  // namespace regard
