// Long short-term memory (Hochreiter, Schmidhuber 1997; Gers et al. 2000):
//
//   i = σ(W_i x + U_i h + b_i)      f, o likewise      c̃ = tanh(W x + U h + b)
//   c' = f ⊙ c + i ⊙ c̃              h' = o ⊙ tanh(c')
//
// A state is [h; c], of which h is shown. The gates lie side by side in the order i, f, o, c̃; b_f
// begins at 1, so that nothing is forgotten before it is learnt (Jozefowicz et al. 2015).
#pragma once

#include "model/rnn/cell.h"

namespace regard {

class LstmCell : public SteppedCell {
 public:
  LstmCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size);

  std::int64_t state_size() const override { return 2 * D_; }

 protected:
  torch::Tensor advance(const torch::Tensor& projected, const torch::Tensor& state) override;
};

}  // namespace regard
