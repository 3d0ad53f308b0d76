#include "model/output/copy_output.h"

#include <limits>

#include "base/special_tokens.h"
#include "kernels/attention.h"
#include "kernels/functions.h"
#include "kernels/packed_weights.h"
#include "kernels/token_probabilities.h"

namespace regard {
namespace {

// Returns log x; −∞ without gradient where x is 0.
torch::Tensor log_or_minus_infinity(const torch::Tensor& x) {
  const auto is_zero = x == 0;
  return x.masked_fill(is_zero, 1).log().masked_fill(is_zero, minus_infinity);
}

// Returns log x, with x clamped to the smallest normal float. For words outside the vocabulary:
// they can only be copied, and log P stays finite if their attention weights underflow to 0.
torch::Tensor log_clamped(const torch::Tensor& x) {
  return x.clamp_min(std::numeric_limits<float>::min()).log();
}

// Returns log(p_gen generated + (1 − p_gen) copied). gate is the logit of p_gen.
torch::Tensor log_mixture(const torch::Tensor& gate, const torch::Tensor& log_generated,
                          const torch::Tensor& log_copied) {
  return torch::logaddexp(torch::log_sigmoid(gate) + log_generated,
                          torch::log_sigmoid(-gate) + log_copied);
}

}  // namespace

CopyOutputLayer::CopyOutputLayer(const OutputLayerConfig& config) : VocabularyOutputLayer(config) {
  const auto& decoder = config.options.decoder;
  w_c_ = config.model.register_module("copy_w_c", Linear(config.state_size, 1, false));
  w_s_ = config.model.register_module("copy_w_s", Linear(decoder.hidden_size, 1));
  const auto input_size =
      decoder.kind == LayerKind::recurrent ? decoder.embedding_dim : decoder.hidden_size;
  w_y_ = config.model.register_module("copy_w_y", Linear(input_size, 1, false));
}

void CopyOutputLayer::prepare(EncoderOutput& encoded, const torch::Tensor& source,
                              const torch::Tensor& /*embedded*/) {
  encoded.context.set(this, {source.select(2, 1).contiguous(), w_c_(encoded.states)});
}

torch::Tensor CopyOutputLayer::embed(const torch::Tensor& tokens, const EncoderOutput& encoded) {
  return VocabularyOutputLayer::embed(
      tokens.masked_fill(tokens >= b_.size(0), std::int64_t{unk_id}), encoded);
}

torch::Tensor CopyOutputLayer::gate(const DecoderOutput& decoded, const EncoderOutput& encoded) {
  const auto& alpha = decoded.weights;  // [B, G, S]
  const auto context =
      kernels::is_batch_invariant(alpha)
          ? kernels::mix(alpha.flatten(0, 1), gate_scores(encoded), encoded.lengths)
                .view({alpha.size(0), alpha.size(1), 1})
          : alpha.bmm(gate_scores(encoded));
  return context + w_s_(decoded.hidden) + w_y_(decoded.input);
}

torch::Tensor CopyOutputLayer::copy_distribution(std::int64_t width, const torch::Tensor& ids,
                                                 const DecoderOutput& decoded) {
  const auto& alpha = decoded.weights;
  return alpha.new_zeros({alpha.size(0), alpha.size(1), width})
      .scatter_add(2, ids.unsqueeze(1).expand_as(alpha), alpha);
}

torch::Tensor CopyOutputLayer::extended_log_p(const torch::Tensor& logits,
                                              const DecoderOutput& decoded,
                                              const EncoderOutput& encoded) {
  const auto V = logits.size(2);
  const auto width = V + copy_ids(encoded).size(1);  // a sentence of S words has at most S others
  const auto generated_log_p = kernels::log_softmax(logits);
  if (kernels::is_batch_invariant(logits)) {
    return kernels::copy_mixture(generated_log_p, gate(decoded, encoded), decoded.weights,
                                 copy_ids(encoded), encoded.lengths, width);
  }
  const auto generated = torch::constant_pad_nd(generated_log_p, {0, width - V}, minus_infinity);
  const auto mass = copy_distribution(width, copy_ids(encoded), decoded);
  const auto is_extended = torch::arange(width, copy_ids(encoded).options()) >= V;
  const auto is_own_extended = torch::zeros({logits.size(0), width}, is_extended.options())
                                   .scatter_(1, copy_ids(encoded), true)
                                   .logical_and(is_extended)
                                   .unsqueeze(1);  // [B, 1, width]
  return log_mixture(gate(decoded, encoded), generated,
                     torch::where(is_own_extended, log_clamped(mass), log_or_minus_infinity(mass)));
}

torch::Tensor CopyOutputLayer::vocabulary_log_p(const DecoderOutput& decoded,
                                                const EncoderOutput& encoded) {
  const auto V = b_.size(0);
  // The last column collects the words outside of the vocabulary.
  const auto mass =
      copy_distribution(V + 1, copy_ids(encoded).clamp_max(V), decoded).narrow(2, 0, V);
  return log_mixture(gate(decoded, encoded), torch::linear(decoded.readout, W_, b_).log_softmax(-1),
                     log_or_minus_infinity(mass));
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
  const auto log_p = log_mixture(
      rows(gate(decoded, encoded)), generated,
      torch::where(is_extended, log_clamped(mass), log_or_minus_infinity(mass)));  // [N, 1]
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
