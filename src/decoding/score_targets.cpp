#include "decoding/score_targets.h"

#include <torch/utils.h>

#include "decoding/hypothesis.h"
#include "kernels/functions.h"
#include "kernels/packed_weights.h"

namespace regard {

std::vector<Hypothesis> score_targets(Seq2Seq& model, const torch::Tensor& source,
                                      const torch::Tensor& lengths, const torch::Tensor& target,
                                      bool want_weights, kernels::PackedWeights& packed) {
  const torch::InferenceMode guard;
  const kernels::WithPackedWeights with(packed);
  const auto B = source.size(0);
  const auto target_on_cpu = target.to(torch::kCPU).contiguous();  // [B, T + 1]
  const auto tokens = target_on_cpu.accessor<std::int64_t, 2>();
  std::vector<Hypothesis> hypotheses(static_cast<std::size_t>(B));

  const auto encoded = model.encode(source, lengths);
  auto state = model.initial_state(encoded);
  for (std::int64_t t = 0; t + 1 < target.size(1); ++t) {
    auto step = model.step(target.select(1, t), state, encoded);
    const auto log_probabilities =
        kernels::log_softmax(model.output_layer().logits(step, encoded));  // [B, V]
    const auto target_log_p = log_probabilities.gather(1, target.slice(1, t + 1, t + 2))
                                  .to(torch::kCPU, torch::kDouble)
                                  .contiguous();  // [B, 1]
    const AttentionOnCpu weights(want_weights ? step.weights : torch::Tensor());
    for (std::int64_t b = 0; b < B; ++b) {
      auto& hypothesis = hypotheses[static_cast<std::size_t>(b)];
      if (hypothesis.finished) continue;
      const auto log_p = target_log_p.data_ptr<double>()[b];
      hypothesis.token_log_p.push_back(log_p);
      hypothesis.log_probability += log_p;
      hypothesis.score = hypothesis.log_probability;
      hypothesis.finished = tokens[b][t + 1] == eos_id;
      if (!hypothesis.finished) {
        hypothesis.tokens.push_back(static_cast<std::int32_t>(tokens[b][t + 1]));
      }
      if (weights) {
        hypothesis.weights.push_back(
            weights.row(static_cast<std::size_t>(b), lengths[b].item<std::int64_t>()));
      }
    }
    state = std::move(step.state);
  }
  return hypotheses;
}

std::vector<Hypothesis> score_targets(Seq2Seq& model, const torch::Tensor& source,
                                      const torch::Tensor& lengths, const torch::Tensor& target,
                                      bool want_weights) {
  kernels::PackedWeights packed;
  return score_targets(model, source, lengths, target, want_weights, packed);
}

}  // namespace regard
