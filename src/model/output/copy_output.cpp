#include "model/output/copy_output.h"

#include "base/special_tokens.h"
#include "kernels/attention.h"
#include "kernels/copy_mixture.h"
#include "kernels/cross_entropy.h"
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

kernels::Copies CopyOutputLayer::copies(const DecoderOutput& decoded, const EncoderOutput& encoded,
                                        const Targets& targets) {
  const auto& ids = copy_ids(encoded);
  const auto T = targets.all.size(1);
  return {.gate = targets.rows_of(gate(decoded, encoded)).squeeze(1),
          .weights = targets.rows_of(decoded.weights),
          .ids = targets.padding.defined()
                     ? ids.repeat_interleave(T, 0)
                     : ids.index_select(0, targets.positions.div(T, "floor"))};
}

torch::Tensor CopyOutputLayer::target_nll(const DecoderOutput& decoded,
                                          const EncoderOutput& encoded, const Targets& targets) {
  const auto V = b_.size(0);
  const auto& y = targets.tokens;
  const auto generated = kernels::linear_nll(targets.rows_of(decoded.readout), W_, b_,
                                             y.masked_fill(y >= V, std::int64_t{unk_id}));
  return kernels::copy_nll(generated, y, V, copies(decoded, encoded, targets));
}

Loss CopyOutputLayer::loss(const DecoderOutput& decoded, const EncoderOutput& encoded,
                           const Targets& targets, const LossOptions& options) {
  const auto [loss, nll] = kernels::copy_cross_entropy(
      targets.rows_of(decoded.readout), W_, b_, targets.tokens, copies(decoded, encoded, targets),
      options.label_smoothing, targets.padding);
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
