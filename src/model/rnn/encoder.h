// The recurrent encoder (Bahdanau, Cho, Bengio 2015, section 3.2):
//
//   →h_s = GRU(x_s, →h_{s−1})      ←h_s = GRU(x_s, ←h_{s+1})      h_s = [→h_s; ←h_s]
//
// The backward direction begins at each sentence's own last token: sentences are reversed within
// their length, so that both directions run left to right and padding comes after all that counts.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/dropout.h"
#include "model/rnn/gru.h"

namespace regard {

struct EncoderOutput {
  torch::Tensor states;  // h [B, S, C], C = D times directions; of no meaning at padding
  torch::Tensor mask;    // [B, S] bool, true at real positions
  torch::Tensor last;    // [→h_S; ←h_1] [B, C]: each direction's state once it has read it all
};

class RecurrentEncoder : public torch::nn::Module {
 public:
  RecurrentEncoder(const EncoderOptions& options, double state_dropout);

  // embedded [B, S, E]; lengths [B] int64 on the CPU, none of them 0.
  EncoderOutput forward(const torch::Tensor& embedded, const torch::Tensor& lengths);

  std::int64_t state_size() const { return directions_ * hidden_size_; }

 private:
  std::int64_t directions_;
  std::int64_t hidden_size_;
  std::vector<std::shared_ptr<GruCell>> layers_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
