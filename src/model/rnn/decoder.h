// The attention decoder (Bahdanau, Cho, Bengio 2015, section 3.1 and A.2.2), a stack of GRUs:
//
//   c_t = attention(s_{t−1}, h)                  the bottom layer's old state asks
//   r = σ(W_r y_{t−1} + U_r s_{t−1} + C_r c_t + b_r), z likewise
//   s̃ = tanh(W y_{t−1} + U [r ⊙ s_{t−1}] + C c_t + b)
//   s_t = z ⊙ s_{t−1} + (1 − z) ⊙ s̃
//   readout_t = tanh(W_y y_{t−1} + W_s s_t + W_c c_t + b)        s_t the top layer's
//
// Only attention and U s wait for the last state. The rest is done for all steps at once.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/dropout.h"
#include "model/rnn/gru.h"
#include "model/seq2seq.h"

namespace regard {

class AttentionDecoder : public torch::nn::Module {
 public:
  // state_size is the encoder's width C.
  AttentionDecoder(std::int64_t state_size, const ModelOptions& options);

  // Done once a sentence: completes a memory that has values, mask, lengths and summary.
  void prepare(Memory& memory);
  // s_0 of every layer.
  DecoderState start(const Memory& memory);
  // embedded [N, E], the tokens before.
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state, const Memory& memory);
  // embedded [B, T, E] -> readouts [B, T, R].
  torch::Tensor forward(const torch::Tensor& embedded, const Memory& memory);

 private:
  // What attention adds, once the matrices of its places are applied: C c_t and W_c c_t.
  struct Attended {
    torch::Tensor gates;    // [N, 3D]
    torch::Tensor readout;  // [N, R]
    torch::Tensor weights;  // [N, S] or undefined
  };
  Attended attend(const torch::Tensor& query, const Memory& memory);

  struct BottomLayer {
    torch::Tensor states;   // [T, B, D]
    torch::Tensor readout;  // [T or 1, B, R], attention's part
  };
  // State and attention in turn: projected [T, B, 3D], s [B, D].
  BottomLayer bottom_layer(const torch::Tensor& projected, torch::Tensor s, const Memory& memory);
  torch::Tensor readout(const torch::Tensor& y, const torch::Tensor& s,
                        const torch::Tensor& attended);

  InitialState initial_state_;
  std::shared_ptr<Attention> attention_;
  std::vector<std::shared_ptr<GruCell>> layers_;
  torch::nn::Linear C_{nullptr};  // [3D, C], the context's share of the bottom layer's gates
  torch::nn::ModuleList bridges_;
  torch::nn::Linear W_y_{nullptr};
  torch::nn::Linear W_s_{nullptr};
  torch::nn::Linear W_c_{nullptr};
  std::shared_ptr<Dropout> state_dropout_;
  std::shared_ptr<Dropout> readout_dropout_;
};

}  // namespace regard
