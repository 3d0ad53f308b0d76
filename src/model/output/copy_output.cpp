#include "model/output/copy_output.h"

#include "base/special_tokens.h"
#include "kernels/attention.h"
#include "kernels/copy_mixture.h"
#include "kernels/functions.h"

namespace regard {

CopyOutputLayer::CopyOutputLayer(const OutputLayerConfig& config) : VocabularyOutputLayer(config) {
  const auto& decoder = config.options.decoder;
  w_c_ = config.model.register_module("copy_w_c", Linear(config.state_size, 1, false));
  w_s_ = config.model.register_module("copy_w_s", Linear(decoder.hidden_size, 1));
  const auto input_size =
      decoder.kind == LayerKind::recurrent ? decoder.embedding_dim : decoder.hidden_size;
  w_y_ = config.model.register_module("copy_w_y", Linear(input_size, 1, false));
}

void CopyOutputLayer::prepare(EncoderOutput& encoded, const SourceBatch& source,
                              const torch::Tensor& /*embedded*/) {
  encoded.context.set(
      this, {std::get<CopyIds>(source.values).extended_ids.contiguous(), w_c_(encoded.states)});
}

torch::Tensor CopyOutputLayer::embed(const torch::Tensor& tokens, const EncoderOutput& encoded) {
  return VocabularyOutputLayer::embed(
      tokens.masked_fill(tokens >= b_.size(0), std::int64_t{unk_id}), encoded);
}

torch::Tensor CopyOutputLayer::gate(const DecoderOutput& decoded, const EncoderOutput& encoded) {
  const auto& alpha = decoded.weights;  // [B, G, S]
  const auto context = kernels::mix(alpha.flatten(0, 1), gate_scores(encoded), encoded.lengths)
                           .view({alpha.size(0), alpha.size(1), 1});
  return context + w_s_(decoded.hidden) + w_y_(decoded.input);
}

torch::Tensor CopyOutputLayer::extended_log_p(const torch::Tensor& logits,
                                              const DecoderOutput& decoded,
                                              const EncoderOutput& encoded) {
  const auto& ids = copy_ids(encoded);
  return kernels::copy_mixture(kernels::log_softmax(logits), gate(decoded, encoded),
                               decoded.weights, ids, encoded.lengths, logits.size(2) + ids.size(1));
}

torch::Tensor CopyOutputLayer::vocabulary_log_p(const DecoderOutput& decoded,
                                                const EncoderOutput& encoded) {
  const auto V = b_.size(0);
  // The last column collects the words outside of the vocabulary.
  const auto mass =
      kernels::copied_mass(decoded.weights, copy_ids(encoded).clamp_max(V), V + 1).narrow(2, 0, V);
  return kernels::log_mixture(gate(decoded, encoded),
                              torch::linear(decoded.readout, W_, b_).log_softmax(-1),
                              kernels::log_mass(mass));
}

torch::Tensor CopyOutputLayer::target_nll(const DecoderOutput& decoded,
                                          const EncoderOutput& encoded, const Targets& targets) {
  const auto V = b_.size(0);
  const auto rows = [&](const torch::Tensor& x) { return targets.rows_of(x); };
  const auto y = targets.tokens.unsqueeze(1);  // [N, 1]
  const auto is_extended = y >= V;
  const auto generated = torch::linear(rows(decoded.readout), W_, b_)  // [N, V]
                             .log_softmax(-1)
                             .gather(1, y.masked_fill(is_extended, std::int64_t{unk_id}))
                             .masked_fill(is_extended, minus_infinity);  // [N, 1]
  const auto is_different =
      copy_ids(encoded).unsqueeze(1) != targets.all.unsqueeze(2);  // [B, T, S]
  const auto mass = rows(decoded.weights.masked_fill(is_different, 0).sum(-1, /*keepdim=*/true));
  const auto copied =
      torch::where(is_extended, kernels::log_extended_mass(mass), kernels::log_mass(mass));
  const auto log_p =
      kernels::log_mixture(rows(gate(decoded, encoded)), generated, copied);  // [N, 1]
  return -log_p.squeeze(1);
}

Loss CopyOutputLayer::loss(const DecoderOutput& decoded, const EncoderOutput& encoded,
                           const Targets& targets, const LossOptions& options) {
  const auto label_smoothing = options.label_smoothing;
  const auto nll = targets.without_padding(target_nll(decoded, encoded, targets));  // [N]
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto log_p = targets.rows_of(vocabulary_log_p(decoded, encoded));  // [N, V]
    const auto uniform = -targets.without_padding(log_p).sum() / b_.size(0);
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  return {loss, targets.scatter(nll)};
}

torch::Tensor CopyOutputLayer::logits(const DecoderStep& step, const EncoderOutput& encoded) {
  const auto generated = VocabularyOutputLayer::logits(step, encoded);  // [N, V]
  const auto B = encoded.states.size(0);
  return extended_log_p(generated.view({B, -1, generated.size(1)}),
                        group_by_sentence(step, encoded), encoded)
      .flatten(0, 1);
}

torch::Tensor CopyOutputLayer::generation_probability(const DecoderStep& step,
                                                      const EncoderOutput& encoded) {
  return kernels::sigmoid(gate(group_by_sentence(step, encoded), encoded)).flatten();  // [N]
}

}  // namespace regard
