#include "decoding/score_targets.h"

#include <torch/utils.h>

#include "decoding/hypothesis.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"

namespace regard {

std::vector<Hypothesis> score_targets(Seq2Seq& model, const SourceBatch& source,
                                      const GivenTargets& targets, bool want_weights,
                                      kernels::PackedWeights& packed) {
  const torch::InferenceMode guard;
  const auto mode = kernels::Mode::search(packed);
  auto encoded = model.encode(source);
  if (targets.rows.defined()) encoded = encoded.select(targets.rows);
  const auto T = targets.tokens.size(1) - 1;
  const auto outputs = targets.tokens.narrow(1, 1, T);  // [N, T]
  const auto decoded = model.decode(targets.tokens.narrow(1, 0, T), encoded, want_weights);
  const auto all_log_p =
      model.output_layer().log_probabilities(decoded, encoded, outputs).cpu().contiguous();

  const auto on_cpu = outputs.cpu().contiguous();
  const auto source_lengths = encoded.lengths.contiguous();
  const auto* tokens = on_cpu.const_data_ptr<std::int64_t>();
  const auto* log_p = all_log_p.const_data_ptr<double>();
  std::vector<Hypothesis> hypotheses(static_cast<std::size_t>(on_cpu.size(0)));
  for (std::size_t n = 0; n < hypotheses.size(); ++n, tokens += T, log_p += T) {
    auto& hypothesis = hypotheses[n];
    const auto row = static_cast<std::int64_t>(n);
    const AttentionOnCpu weights(want_weights && decoded.weights.defined() ? decoded.weights[row]
                                                                           : torch::Tensor());
    for (std::int64_t t = 0; t < T && !hypothesis.finished; ++t) {
      hypothesis.token_log_p.push_back(log_p[t]);
      hypothesis.log_probability += log_p[t];
      hypothesis.finished = tokens[t] == eos_id;
      if (!hypothesis.finished) hypothesis.tokens.push_back(static_cast<std::int32_t>(tokens[t]));
      if (weights) {
        hypothesis.weights.push_back(weights.row(
            static_cast<std::size_t>(t), source_lengths.const_data_ptr<std::int64_t>()[row]));
      }
    }
    hypothesis.score = hypothesis.log_probability;
  }
  return hypotheses;
}

std::vector<Hypothesis> score_targets(Seq2Seq& model, const SourceBatch& source,
                                      const GivenTargets& targets, bool want_weights) {
  kernels::PackedWeights packed;
  return score_targets(model, source, targets, want_weights, packed);
}

torch::Tensor score_masked_tokens(Seq2Seq& model, const SourceBatch& source,
                                  const torch::Tensor& positions, const torch::Tensor& tokens,
                                  kernels::PackedWeights& packed) {
  const torch::InferenceMode guard;
  const auto mode = kernels::Mode::search(packed);
  const auto encoded = model.encode(source);
  const auto decoded = model.decode(positions, encoded);
  return model.output_layer().log_probabilities(decoded, encoded, tokens);
}

}  // namespace regard
