// The recurrent encoder (Bahdanau, Cho, Bengio 2015, section 3.2):
//
//   →h_s = f(x_s, →h_{s−1})      ←h_s = f(x_s, ←h_{s+1})      h_s = [→h_s; ←h_s]
//
// f is a GRU, an LSTM or a simple cell (cell.h), or a stack of cells (stack.h). For the backward
// direction, sentences are reversed within their length, so that both directions run left to right
// and padding comes last. h_s is the output of the stack. Dropout is applied to the states and to
// the summary, with separate masks.
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
  RecurrentEncoder(const EncoderOptions& options, double state_dropout);

  EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths) override;
  std::int64_t state_size() const override { return directions_ * hidden_size_; }

 private:
  std::int64_t directions_;
  std::int64_t hidden_size_;
  std::vector<std::shared_ptr<Cell>> layers_;
  std::shared_ptr<Stack> stack_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
