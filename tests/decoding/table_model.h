// A model with probabilities from a table: P(y_t) depends on y_{t−1} and on the sentence.
#pragma once

#include <torch/types.h>

#include "model/output/output_layer.h"
#include "model/seq2seq.h"

namespace regard {

class TableModel : public Seq2Seq {
 public:
  // log_p [sentences, V, V]: of the next token after each token. The first source token is the
  // index of the sentence.
  explicit TableModel(torch::Tensor log_p) : log_p_(std::move(log_p)) {}

  EncoderOutput encode(const SourceBatch& source) override {
    const auto which = source.elements().select(1, 0).unsqueeze(1);
    EncoderOutput encoded;
    encoded.set_lengths(source.lengths, source.positions(), torch::kCPU);
    encoded.states = which;
    encoded.summary = which.to(torch::kDouble);
    return encoded;
  }
  DecoderState initial_state(const EncoderOutput& encoded) override {
    DecoderState state;
    state.layers = {encoded.states};
    return state;
  }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded, bool /*want_weights*/ = true) override {
    const auto G = tokens.size(0) / encoded.states.size(0);
    const auto which = encoded.states.squeeze(1).repeat_interleave(G);
    // All attention is on the position given by the previous token, so that a test can follow it.
    const auto weights =
        torch::one_hot(tokens.remainder(encoded.mask.size(1)), encoded.mask.size(1));
    return {log_p_.index({which, tokens}), weights.to(torch::kDouble), state};
  }
  DecoderOutput decode(const torch::Tensor& input, const EncoderOutput& encoded,
                       bool /*want_weights*/ = false) override {
    const auto weights =
        torch::one_hot(input.remainder(encoded.mask.size(1)), encoded.mask.size(1));
    return {.readout = log_p_.index({encoded.states, input}),
            .weights = weights.to(torch::kDouble)};
  }
  OutputLayer& output_layer() override { return output_layer_; }

 private:
  // The logits of a step are those of the table.
  struct TableOutput : OutputLayer {
    torch::Tensor embed(const torch::Tensor&, const EncoderOutput&) override { return {}; }
    Loss loss(const DecoderOutput&, const EncoderOutput&, const Targets&,
              const LossOptions& /*options*/) override {
      return {};
    }
    torch::Tensor target_nll(const DecoderOutput&, const EncoderOutput&, const Targets&) override {
      return {};
    }
    torch::Tensor logits(const DecoderStep& step, const EncoderOutput&) override {
      return step.readout;
    }
  };

  TableOutput output_layer_;
  torch::Tensor log_p_;
};

}  // namespace regard
