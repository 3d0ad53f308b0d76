// A model whose probabilities the test writes down: P(y_t) depends on y_{t−1} and on the sentence.
#pragma once

#include <torch/types.h>

#include "model/output/output.h"
#include "model/seq2seq.h"

namespace regard {

class TableModel : public Seq2Seq {
 public:
  // log_p [sentences, V, V]: of the next token after each token. Sentence k of the table is the one
  // whose first source token is k.
  explicit TableModel(torch::Tensor log_p) : log_p_(std::move(log_p)) {}

  Memory encode(const torch::Tensor& source, const torch::Tensor& lengths) override {
    const auto mask = torch::arange(source.size(1)).unsqueeze(0) < lengths.unsqueeze(1);
    const auto which = source.select(1, 0).unsqueeze(1);
    Memory memory;
    memory.keys = which;
    memory.mask = mask;
    memory.summary = which.to(torch::kDouble);
    return memory;
  }
  DecoderState start(const Memory& memory) override { return {{memory.keys}, {}, {}}; }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const Memory& memory) override {
    const auto G = tokens.size(0) / memory.keys.size(0);
    const auto which = memory.keys.squeeze(1).repeat_interleave(G);
    // The weights point at the position of the token before, so that a test can follow them.
    const auto weights = torch::one_hot(tokens.remainder(memory.mask.size(1)), memory.mask.size(1));
    return {log_p_.index({which, tokens}), weights.to(torch::kDouble), state};
  }
  Decoded decode(const torch::Tensor& /*input*/, const Memory& /*memory*/) override { return {}; }
  Output& output() override { return output_; }

 private:
  // What a step reads out is what the table says.
  struct TableOutput : Output {
    torch::Tensor embed(const torch::Tensor&, const Memory&) override { return {}; }
    Loss loss(const Decoded&, const Memory&, const torch::Tensor&, double) override { return {}; }
    torch::Tensor logits(const DecoderStep& step, const Memory&) override { return step.readout; }
  };

  TableOutput output_;
  torch::Tensor log_p_;
};

}  // namespace regard
