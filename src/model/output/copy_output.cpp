#include "model/output/copy_output.h"

#include <limits>

#include "base/special_tokens.h"
#include "kernels/attention.h"
#include "kernels/copy_mixture.h"
#include "kernels/functions.h"
#include "kernels/packed_weights.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
// log x, −∞ without a gradient where x is 0.
torch::Tensor log_or_none(const torch::Tensor& x) {
  const auto none = x == 0;
  return x.masked_fill(none, 1).log().masked_fill(none, minus_infinity);
}

// A word that cannot be generated and has lost all weight has the least that a float holds.
torch::Tensor log_at_least(const torch::Tensor& x) {
  return x.clamp_min(std::numeric_limits<float>::min()).log();
}

// log(p_gen generated + (1 − p_gen) copied), of p_gen's logit and the logarithms of the others.
torch::Tensor log_mixture(const torch::Tensor& gate, const torch::Tensor& log_generated,
                          const torch::Tensor& log_copied) {
  return torch::logaddexp(torch::log_sigmoid(gate) + log_generated,
                          torch::log_sigmoid(-gate) + log_copied);
}

}  // namespace

CopyOutput::CopyOutput(const OutputPlace& place) : VocabularyOutput(place) {
  const auto& decoder = place.options.decoder;
  w_c_ = place.model.register_module("copy_w_c", Linear(place.state_size, 1, false));
  w_s_ = place.model.register_module("copy_w_s", Linear(decoder.hidden_size, 1));
  w_y_ = place.model.register_module("copy_w_y", Linear(decoder.embedding_dim, 1, false));
}

void CopyOutput::prepare(Memory& memory, const torch::Tensor& source,
                         const torch::Tensor& /*embedded*/) {
  memory.copy_ids = source.select(2, 1).contiguous();  // [B, S]
  memory.output_keys = w_c_(memory.values);            // [B, S, 1]
}

torch::Tensor CopyOutput::embed(const torch::Tensor& tokens, const Memory& memory) {
  return VocabularyOutput::embed(tokens.masked_fill(tokens >= b_.size(0), std::int64_t{unk_id}),
                                 memory);
}

torch::Tensor CopyOutput::gate(const Decoded& decoded, const Memory& memory) {
  const auto& alpha = decoded.weights;  // [B, G, S]
  const auto context = kernels::is_batch_invariant(alpha)
                           ? kernels::mix(alpha.flatten(0, 1), memory.output_keys, memory.lengths)
                                 .view({alpha.size(0), alpha.size(1), 1})
                           : alpha.bmm(memory.output_keys);
  return context + w_s_(decoded.top) + w_y_(decoded.input);
}

torch::Tensor CopyOutput::copied(std::int64_t width, const Decoded& decoded, const Memory& memory) {
  const auto& alpha = decoded.weights;
  return alpha.new_zeros({alpha.size(0), alpha.size(1), width})
      .scatter_add(2, memory.copy_ids.unsqueeze(1).expand_as(alpha), alpha);
}

torch::Tensor CopyOutput::of_all(const torch::Tensor& logits, const Decoded& decoded,
                                 const Memory& memory) {
  const auto V = logits.size(2);
  const auto width = std::max(V, memory.copy_ids.max().item<std::int64_t>() + 1);
  const auto of_vocabulary = kernels::log_softmax(logits);
  if (kernels::is_batch_invariant(logits)) {
    return kernels::copy_mixture(of_vocabulary, gate(decoded, memory), decoded.weights,
                                 memory.copy_ids, memory.lengths, width);
  }
  const auto generated = torch::constant_pad_nd(of_vocabulary, {0, width - V}, minus_infinity);
  const auto mass = copied(width, decoded, memory);
  const auto is_extra = torch::arange(width, memory.copy_ids.options()) >= V;
  const auto is_there = torch::zeros({logits.size(0), width}, is_extra.options())
                            .scatter_(1, memory.copy_ids, true)
                            .logical_and(is_extra)
                            .unsqueeze(1);  // [B, 1, width]
  return log_mixture(gate(decoded, memory), generated,
                     torch::where(is_there, log_at_least(mass), log_or_none(mass)));
}

torch::Tensor CopyOutput::of_vocabulary(const Decoded& decoded, const Memory& memory) {
  const auto V = b_.size(0);
  const auto words = std::max(V, memory.copy_ids.max().item<std::int64_t>() + 1);
  const auto mass = copied(words, decoded, memory).narrow(2, 0, V);
  return log_mixture(gate(decoded, memory), torch::linear(decoded.readout, W_, b_).log_softmax(-1),
                     log_or_none(mass));
}

Loss CopyOutput::loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
                      double label_smoothing) {
  const auto V = b_.size(0);
  const auto real = targets.flatten().nonzero().squeeze(1);  // [N]
  const auto rows = [&](const torch::Tensor& x) { return x.flatten(0, 1).index_select(0, real); };
  const auto y = rows(targets.unsqueeze(2));  // [N, 1]
  const auto is_extra = y >= V;
  const auto generated = torch::linear(rows(decoded.readout), W_, b_)  // [N, V]
                             .log_softmax(-1)
                             .gather(1, y.masked_fill(is_extra, std::int64_t{unk_id}))
                             .masked_fill(is_extra, minus_infinity);           // [N, 1]
  const auto is_other = memory.copy_ids.unsqueeze(1) != targets.unsqueeze(2);  // [B, T, S]
  const auto mass = rows(decoded.weights.masked_fill(is_other, 0).sum(-1, /*keepdim=*/true));
  const auto log_p =
      log_mixture(rows(gate(decoded, memory)), generated,
                  torch::where(is_extra, log_at_least(mass), log_or_none(mass)));  // [N, 1]
  const auto nll = -log_p.squeeze(1);                                              // [N]
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto uniform = -rows(of_vocabulary(decoded, memory)).sum() / V;
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  return {loss, at_targets(nll, targets)};
}

torch::Tensor CopyOutput::logits(const DecoderStep& step, const Memory& memory) {
  const auto generated = VocabularyOutput::logits(step, memory);  // [N, V]
  const auto B = memory.values.size(0);
  return of_all(generated.view({B, -1, generated.size(1)}), by_sentence(step, memory), memory)
      .flatten(0, 1);
}

torch::Tensor CopyOutput::generates(const DecoderStep& step, const Memory& memory) {
  return kernels::sigmoid(gate(by_sentence(step, memory), memory)).flatten();  // [N]
}

}  // namespace regard
