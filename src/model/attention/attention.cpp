#include "model/attention/attention.h"

#include "kernels/functions.h"

namespace regard {

std::optional<AttentionStep> Attention::all_steps(const torch::Tensor& queries,
                                                  const AttentionState& first,
                                                  const EncoderOutput& encoded) {
  if (!first.empty()) return {};
  return step(queries, first, encoded);
}

torch::Tensor group_by_sentence(const torch::Tensor& queries, const EncoderOutput& encoded) {
  return queries.view({encoded.states.size(0), -1, queries.size(1)});
}

torch::Tensor repeat_rows(const torch::Tensor& rows, std::int64_t N) {
  const auto B = rows.size(0);
  if (N == B) return rows;
  return rows.unsqueeze(1).expand({B, N / B, -1}).reshape({N, -1});
}

torch::Tensor first_position_weights(const EncoderOutput& encoded) {
  auto first = torch::zeros_like(encoded.mask, encoded.states.options());
  first.select(1, 0).fill_(1);
  return first;
}

torch::Tensor log_weights(const torch::Tensor& weights) {
  return kernels::log(weights.clamp_min(smallest_weight));
}

ScoreAttention::ScoreAttention() : Attention({.is_mixture = true, .is_distribution = true}) {}

void ScoreAttention::prepare(EncoderOutput& encoded) {
  encoded.context.set(this, {keys(encoded.states)});
}

AttentionStep ScoreAttention::step(const torch::Tensor& query, const AttentionState& /*state*/,
                                   const EncoderOutput& encoded) {
  return {weights(query, encoded), {}, {}};
}

AttentionDetail ScoreAttention::explain(const torch::Tensor& query, const AttentionState& /*state*/,
                                        const EncoderOutput& encoded) {
  return {.scores = scores(query, encoded)};
}

kernels::AttentionScore ScoreAttention::score(const EncoderOutput& encoded) {
  const auto& keys_of_batch = encoded.context.at(this)[0];
  auto complete = score_parameters(keys_of_batch);
  complete.keys = keys_of_batch;
  complete.lengths = encoded.lengths;
  complete.padding = encoded.padding;
  return complete;
}

torch::Tensor ScoreAttention::weights(const torch::Tensor& query, const EncoderOutput& encoded,
                                      const torch::Tensor& windows) {
  auto in_windows = score(encoded);
  in_windows.windows = windows;
  return kernels::attention_weights(in_windows, transformed(query));
}

torch::Tensor ScoreAttention::scores(const torch::Tensor& query, const EncoderOutput& encoded) {
  return grouped_scores(group_by_sentence(query, encoded), encoded).view({query.size(0), -1});
}

torch::Tensor ScoreAttention::grouped_scores(const torch::Tensor& queries,
                                             const EncoderOutput& encoded) {
  return kernels::attention_scores(score(encoded), transformed(queries));
}

}  // namespace regard
