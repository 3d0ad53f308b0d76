// The addressing of Neural Turing Machines (Graves, Wayne, Danihelka 2014, equations 5 to 9) over
// the encoder states. It interpolates between content and previous weights, and shifts the result.
//
//   w^c = softmax_s(β k · h_s / (|k| |h_s|))      content
//   w^g = g w^c + (1 − g) w_{t−1}                 interpolation
//   w~(i) = Σ_j w^g(i − j) s(j), j = −K … K       shift, modulo the length of the sentence
//   α_t(i) = w~(i)^γ / Σ_j w~(j)^γ                sharpening
//
// w_{t−1} = α_{t−1}; w_0 is 1 at the first position. In w~, s is a distribution over shifts, and K
// is model.attention.shift. k, β, g, s and γ are computed from the query q: k = W_k q; the others
// from the parts of W q + b, by softplus (β), sigmoid (g), softmax (s) and 1 + softplus (γ).
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/layers.h"

namespace regard {

class Ntm : public Attention {
 public:
  Ntm(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(EncoderOutput& encoded) override;                        // stores h_s / |h_s|
  AttentionState initial_state(const EncoderOutput& encoded) override;  // w_0 [B, S]
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  // Returns the scores β cos(k, h_s) of w^c, and β, g, s, γ.
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) override;

 private:
  // The parameters of the equations above, computed from the query.
  struct Addressing {
    torch::Tensor beta;   // [N, 1]
    torch::Tensor g;      // [N, 1]
    torch::Tensor s;      // [N, 2 K + 1]
    torch::Tensor gamma;  // [N, 1]
  };
  Addressing addressing(const torch::Tensor& query);
  // Returns β cos(k, h_s) [N, S].
  torch::Tensor content_scores(const torch::Tensor& query, const torch::Tensor& beta,
                               const EncoderOutput& encoded);

  std::int64_t K_;
  Linear W_k_{nullptr};  // [C, D], no bias
  Linear W_{nullptr};    // [3 + 2 K + 1, D]: β, g, γ, s
};

}  // namespace regard
