// The recurrent decoder with attention: a stack of GRUs, LSTMs or simple cells (cell.h, stack.h).
// The query of attention is one of three states, shown here for a GRU, by the
// value of model.decoder.query:
//
//   last: the state before the step (Bahdanau, Cho, Bengio 2015, sections 3.1, A.2.2)
//     c_t = attention(s_{t−1}, h), where s is the state of the bottom layer
//     r = σ(W_r y_{t−1} + U_r s_{t−1} + C_r c_t + b_r), z likewise
//     s̃ = tanh(W y_{t−1} + U [r ⊙ s_{t−1}] + C c_t + b)
//     s_t = z ⊙ s_{t−1} + (1 − z) ⊙ s̃
//   new: the state after the step (Luong, Pham, Manning 2015)
//     s_t = GRU(y_{t−1}, s_{t−1})      c_t = attention(s_t, h), where s_t is the top layer's state
//   between: the state between two cells of the bottom layer (Nematus, Sennrich et
//   al. 2017)
//     s'_t = GRU_1(y_{t−1}, s_{t−1})      c_t = attention(s'_t, h)      s_t = GRU_2(c_t, s'_t)
//
//   readout_t = tanh(W_y y_{t−1} + W_s s_t + W_c c_t + b), where s_t is the top layer's state
//     (Luong et al. 2015; Bahdanau et al. 2015, A.2.2, take the maximum of pairs instead of tanh)
//
// With input feeding (Luong), F readout_{t−1} is added to the gates of the first cell.
//
// The initial state of layer l depends on model.decoder.initial_state:
//
//   bridge  tanh(W_l h + b_l), where h is EncoderOutput::summary (Bahdanau et al. 2015, A.2.2, take
//           only the part of the backward direction, ←h_1)
//   mean    tanh(W_l h + b_l), where h is the mean of the encoder states
//   last    EncoderOutput::summary; the cell state of an LSTM is 0
//   layers  the last state of encoder layer l, with the memory of an LSTM (Sutskever, Vinyals, Le
//           2014)
//   zero    0
//
// Dropout is applied to the attention weights, to the inputs of upper layers (stack.h) and to the
// readout.
//
// In the shapes below, C is the width of the encoder states, D the width of the decoder's hidden
// states, K the number of gates of the cell, E the embedding size, R the readout size, and
// state_size the width of a cell's state (Cell::state_size()).
//
// advance() computes one step of the whole decoder. forward() computes each part (bottom layer,
// upper layers, attention, readout) for all steps at once if the recurrence allows it.
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/decoder.h"
#include "model/layers.h"
#include "model/rnn/cell.h"
#include "model/rnn/stack.h"

namespace regard {

class RecurrentDecoder : public Decoder {
 public:
  // encoder_state_size is C, the width of the encoder states.
  RecurrentDecoder(std::int64_t encoder_state_size, const ModelOptions& options);

  void prepare(EncoderOutput& encoded) override;
  DecoderState initial_state(const EncoderOutput& encoded) override;
  DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                   const EncoderOutput& encoded, bool want_weights = true,
                   AttentionDetail* detail = nullptr) override;
  // Has no self-attention.
  DecoderOutput forward(const torch::Tensor& embedded, const EncoderOutput& encoded,
                        bool want_weights = false,
                        std::vector<torch::Tensor>* self_attention = nullptr) override;
  void set_training_step(std::int64_t step) override { attention_->set_training_step(step); }
  bool has_attention_weights() const override { return attention_->traits().has_weights; }
  std::int64_t readout_size() const override { return W_y_->weight.size(0); }

 private:
  // The result of attention for N queries: one step, or all steps with T consecutive rows per
  // sentence.
  struct AttentionResult {
    torch::Tensor gates;    // [N, K · D], contribution of c_t to the gates; undefined for new
    torch::Tensor weights;  // [N, S] or undefined
    torch::Tensor mixture_weights;  // [N, S], weights after dropout; undefined unless
                                    // AttentionTraits::is_mixture
    torch::Tensor context;          // [N, C]; undefined for last and new if is_mixture
    torch::Tensor query;            // [N, D]
    AttentionState state;
    AttentionLoss loss;
  };
  struct BottomLayerOutput {
    torch::Tensor states;      // one step: state [N, state_size]; all steps: outputs [T, B, D]
    AttentionResult attended;  // empty for new
  };
  struct Step {
    torch::Tensor readout;  // [N, R]
    torch::Tensor hidden;   // [N, D], the top layer's state
    AttentionResult attended;
    DecoderState state;
  };

  // Computes one step of the whole decoder. y [N, E] is the embedded input and x [N, K · D] its
  // contribution to the gates of the bottom layer.
  Step advance(const torch::Tensor& x, const torch::Tensor& y, const DecoderState& state,
               const EncoderOutput& encoded);
  // Computes one step of the bottom layer from the state s [N, state_size]. x [N, K · D] is the
  // contribution of the input and, with input feeding, of the last readout to the gates.
  BottomLayerOutput bottom_layer_step(const torch::Tensor& x, const torch::Tensor& s,
                                      const AttentionState& attention,
                                      const EncoderOutput& encoded);
  // Runs layer l: x [T, B, K · D], first state [B, state_size] -> outputs [T, B, D]. If results
  // must not depend on the batch, runs single steps, whose products have the bits of a search.
  torch::Tensor run_layer(std::size_t l, const torch::Tensor& x, const torch::Tensor& first);
  // Computes all steps of the bottom layer. x [T, B, K · D] is the contribution of the inputs.
  BottomLayerOutput bottom_layer_all_steps(const torch::Tensor& x, const DecoderState& first,
                                           const EncoderOutput& encoded);
  // Runs the upper layers on the output h [..., D] of the bottom layer and returns the output of
  // the top layer. run(l, input) must run layer l on its input [..., D] and return its output.
  template <typename Run>
  torch::Tensor upper_layers(torch::Tensor h, Run run) const;
  // Computes readout_t from the embedded input y [..., E], the state s [..., D] of the top layer
  // and the result of context_term() [..., R].
  torch::Tensor readout(const torch::Tensor& y, const torch::Tensor& s,
                        const torch::Tensor& context_term);

  // Computes one step of attention.
  AttentionResult attend(const torch::Tensor& query, const AttentionState& state,
                         const EncoderOutput& encoded);
  // Computes all steps of attention with the queries h [T, B, D].
  AttentionResult attend_all_steps(const torch::Tensor& h, const AttentionState& first,
                                   const EncoderOutput& encoded);
  // Converts the result of attention to AttentionResult: applies dropout to the weights, and
  // computes the context if needed and its contribution to the gates.
  AttentionResult make_attention_result(AttentionStep step, const torch::Tensor& query,
                                        const EncoderOutput& encoded);
  // True if prepare() computes what the encoder states, or a constant context, contribute to gates
  // and readout at all steps.
  bool has_prepared_values() const;
  // Returns the contribution of c_t [N, M], from the tensor that prepare() stored at `index`.
  torch::Tensor prepared_values(const AttentionResult& attended, const EncoderOutput& encoded,
                                std::size_t index) const;
  // Returns W_c c_t [N, R], the contribution of the context to the readout; undefined if there is
  // no context.
  torch::Tensor context_term(const AttentionResult& attended, const EncoderOutput& encoded);

  // Calls step(t), which returns AttentionResult, for t = 0 … T − 1 with deferred weight gradients.
  // Stacks the results, T consecutive rows per sentence. The members gates, query and state of the
  // returned AttentionResult are empty.
  template <typename OneStep>
  AttentionResult run_steps(std::int64_t T, OneStep step);
  // Creates the result of forward() from readout [B, T, R], hidden [B, T, D] and `attended`, which
  // has T rows per sentence, or one row per sentence if the context is constant.
  static DecoderOutput make_decoder_output(const torch::Tensor& readout,
                                           const torch::Tensor& hidden,
                                           const AttentionResult& attended);

  InitialState initial_state_;
  std::shared_ptr<Attention> attention_;
  std::vector<std::shared_ptr<Cell>> layers_;
  std::shared_ptr<Stack> stack_;
  Query query_;
  Linear C_{nullptr};                  // [K · D, C], from the context to the gates; last
  std::shared_ptr<Cell> second_cell_;  // GRU_2; between
  Linear F_{nullptr};              // [K · D, R], from the last readout to the gates; input feeding
  torch::nn::ModuleList bridges_;  // W_l [state_size, C] and b_l of each layer
  Linear W_y_{nullptr};            // [R, E], with b
  Linear W_s_{nullptr};            // [R, D]
  Linear W_c_{nullptr};            // [R, C]
  // Applied to the attention weights, with the same mask for gates and readout.
  std::shared_ptr<Dropout> attention_dropout_;
  std::shared_ptr<Dropout> readout_dropout_;
};

}  // namespace regard
