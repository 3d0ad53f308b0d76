// The recurrent encoder (Bahdanau, Cho, Bengio 2015, section 3.2):
//
//   →h_s = f(x_s, →h_{s−1})      ←h_s = f(x_s, ←h_{s+1})      h_s = [→h_s; ←h_s]
//
// With `pyramidal` (Chan et al. 2016, section 3.1), each layer above the first reads two
// consecutive states of the layer below at once, [h_{2s}; h_{2s+1}], so that it has half as many.
// Zeros stand for a state beyond the end.
//
// f is a GRU, an LSTM or a simple cell (cell.h), or a stack of cells (stack.h). For the backward
// direction, sentences are reversed within their length, so that both directions run left to right
// and padding comes last. An encoder of one direction can be the backward one (reverse), which is
// how Sutskever, Vinyals and Le 2014 read a source. h_s is the output of the stack. Dropout is
// applied to the states and to the summary, with separate masks.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/encoder.h"
#include "model/layers.h"
#include "model/rnn/cell.h"
#include "model/rnn/stack.h"

namespace regard {

// The summary of a sentence is [→h_S; ←h_1], the last state of each direction.
class RecurrentEncoder : public Encoder {
 public:
  // If want_last_states, forward() returns EncoderOutput::last_states.
  RecurrentEncoder(const EncoderOptions& options, double state_dropout,
                   bool want_last_states = false);

  // Has no self-attention.
  EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                        std::vector<torch::Tensor>* self_attention = nullptr) override;
  std::int64_t state_size() const override { return directions_ * hidden_size_; }
  Cell& layer(std::size_t l) { return *layers_[l]; }

 private:
  // True if direction g reads from right to left.
  bool is_backward(std::size_t g) const { return g == 1 || reverse_; }
  // Returns the part of each direction after its last step, side by side [B, G · D]: parts [S, B,
  // D] of G directions in the order of the sentence, ends [B].
  torch::Tensor at_ends(const std::vector<torch::Tensor>& parts, const torch::Tensor& ends) const;

  std::int64_t directions_;
  bool reverse_;
  bool want_last_states_;
  std::int64_t hidden_size_;
  bool pyramidal_;
  std::vector<std::shared_ptr<Cell>> layers_;
  std::shared_ptr<Stack> stack_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
