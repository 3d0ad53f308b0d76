#include "model/output/pointer_output.h"

#include <limits>

#include "base/special_tokens.h"
#include "model/initialisation.h"

namespace regard {
PointerOutput::PointerOutput(const OutputPlace& place) {
  const auto& options = place.options;
  const auto E = options.encoder.embedding_dim;
  begin_ = place.model.register_parameter("target_begin", normal_vector(E));
  AttentionOptions score;
  score.size = options.output.size;
  pointer_ = place.model.register_module(
      "pointer", std::make_shared<Additive>(options.decoder.hidden_size, place.state_size, score));
}

void PointerOutput::prepare(Memory& memory, const torch::Tensor& /*source*/,
                            const torch::Tensor& embedded) {
  memory.elements = embedded;
  memory.output_keys = pointer_->keys(memory.values);
}

torch::Tensor PointerOutput::embed(const torch::Tensor& tokens, const Memory& memory) {
  const auto B = memory.elements.size(0);
  const auto E = memory.elements.size(2);
  const auto by_sentence = tokens.view({B, -1, 1});  // [B, G, 1]
  const auto positions = (by_sentence - first_position_id).clamp_min(0);
  const auto pointed = memory.elements.gather(1, positions.expand({-1, -1, E}));  // [B, G, E]
  auto shape = tokens.sizes().vec();
  shape.push_back(E);
  return torch::where(by_sentence == bos_id, begin_, pointed).view(shape);
}

torch::Tensor PointerOutput::scores(const torch::Tensor& top, const Memory& memory) const {
  auto own = memory;
  own.keys = memory.output_keys;
  const auto u = pointer_->score(top, own);  // [B, G, S]
  const auto lengths = memory.lengths.to(u.device()).view({-1, 1, 1});
  const auto last = (lengths - 1).expand({-1, u.size(1), 1});  // where </s> is
  constexpr auto minus_infinity = -std::numeric_limits<double>::infinity();
  const auto beyond = torch::arange(u.size(2), lengths.options()) >= lengths - 1;  // [B, 1, S]
  const auto specials = u.new_full({u.size(0), u.size(1), eos_id}, minus_infinity);
  return torch::cat({specials, u.gather(2, last), u.masked_fill(beyond, minus_infinity)}, -1);
}

Loss PointerOutput::loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
                         double label_smoothing) {
  const auto real = targets.flatten().nonzero().squeeze(1);  // [N]
  const auto log_p = scores(decoded.top, memory)
                         .log_softmax(-1)
                         .flatten(0, 1)
                         .index_select(0, real);                        // [N, 4 + S]
  const auto y = targets.flatten().index_select(0, real).unsqueeze(1);  // [N, 1]
  const auto nll = -log_p.gather(1, y).squeeze(1);                      // [N]
  auto loss = nll.sum();
  if (label_smoothing > 0) {
    const auto none = log_p.isinf();
    const auto positions = none.logical_not().sum(1);
    const auto uniform = -(log_p.masked_fill(none, 0).sum(1) / positions).sum();
    loss = (1 - label_smoothing) * loss + label_smoothing * uniform;
  }
  return {loss, at_targets(nll, targets)};
}

torch::Tensor PointerOutput::logits(const DecoderStep& step, const Memory& memory) {
  return scores(by_sentence(step, memory).top, memory).flatten(0, 1);
}

}  // namespace regard
