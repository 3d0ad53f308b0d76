#include "model/output/pointer_output.h"

#include "base/special_tokens.h"
#include "kernels/functions.h"
#include "model/initialisation.h"

namespace regard {

PointerOutputLayer::PointerOutputLayer(const OutputLayerConfig& config) {
  const auto& options = config.options;
  const auto E = options.encoder.embedding_dim;
  begin_ = config.model.register_parameter("target_begin", normal_vector(E));
  AttentionOptions score;
  score.size = options.output.size;
  pointer_ = config.model.register_module(
      "pointer", std::make_shared<Additive>(options.decoder.hidden_size, config.state_size, score));
}

void PointerOutputLayer::prepare(EncoderOutput& encoded, const SourceBatch& /*source*/,
                                 const torch::Tensor& embedded) {
  encoded.context.set(this, {embedded});
  pointer_->prepare(encoded);
}

torch::Tensor PointerOutputLayer::embed(const torch::Tensor& tokens, const EncoderOutput& encoded) {
  const auto& elements = encoded.context.at(this)[0];  // [B, S, E], the embedded source
  const auto B = elements.size(0);
  const auto E = elements.size(2);
  const auto grouped = tokens.view({B, -1, 1});  // [B, G, 1]
  // Special tokens other than <s> occur only after the end of a target; their value is not used.
  const auto positions = (grouped - first_position_id).clamp_min(0);
  const auto pointed = elements.gather(1, positions.expand({-1, -1, E}));  // [B, G, E]
  auto shape = tokens.sizes().vec();
  shape.push_back(E);
  return torch::where(grouped == bos_id, begin_, pointed).view(shape);
}

torch::Tensor PointerOutputLayer::scores(const torch::Tensor& hidden,
                                         const EncoderOutput& encoded) const {
  const auto u = pointer_->grouped_scores(hidden, encoded);  // [B, G, S]
  const auto lengths = encoded.lengths_on_device.view({-1, 1, 1});
  const auto last = (lengths - 1).expand({-1, u.size(1), 1});  // the position of </s>
  const auto beyond = torch::arange(u.size(2), lengths.options()) >= lengths - 1;  // [B, 1, S]
  // <pad>, <unk> and <s> are never predicted; they are all ids below </s>.
  const auto specials = u.new_full({u.size(0), u.size(1), eos_id}, minus_infinity);
  return torch::cat({specials, u.gather(2, last), u.masked_fill(beyond, minus_infinity)}, -1);
}

torch::Tensor PointerOutputLayer::target_nll(const DecoderOutput& decoded,
                                             const EncoderOutput& encoded, const Targets& targets) {
  const auto log_p =
      targets.rows_of(scores(decoded.hidden, encoded).log_softmax(-1));  // [N, 4 + S]
  return -log_p.gather(1, targets.tokens.unsqueeze(1)).squeeze(1);
}

Loss PointerOutputLayer::loss(const DecoderOutput& decoded, const EncoderOutput& encoded,
                              const Targets& targets, const LossOptions& options) {
  const auto label_smoothing = options.label_smoothing;
  const auto log_p =
      targets.rows_of(scores(decoded.hidden, encoded).log_softmax(-1));  // [N, 4 + S]
  const auto nll =
      targets.without_padding(-log_p.gather(1, targets.tokens.unsqueeze(1)).squeeze(1));  // [N]
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto is_impossible = log_p.isinf();
    const auto positions = is_impossible.logical_not().sum(1);
    const auto mean = log_p.masked_fill(is_impossible, 0).sum(1) / positions;
    const auto uniform = -targets.without_padding(mean).sum();
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  return {loss, targets.scatter(nll)};
}

torch::Tensor PointerOutputLayer::logits(const DecoderStep& step, const EncoderOutput& encoded) {
  return scores(group_by_sentence(step, encoded).hidden, encoded).flatten(0, 1);
}

}  // namespace regard
