#include "model/output/output_layer.h"

#include <algorithm>

#include "kernels/functions.h"

namespace regard {
namespace {

// The number of rows of logits that log_probabilities() holds at once, if a step has no more.
constexpr std::int64_t rows_at_once = 256;

// Returns `count` steps from `first` as one step of B · count hypotheses, without a state.
DecoderStep narrow_steps(const DecoderOutput& decoded, std::int64_t first, std::int64_t count) {
  const auto rows = [&](const torch::Tensor& x) {
    return x.defined() ? x.narrow(1, first, count).flatten(0, 1) : x;
  };
  DecoderStep steps = {
      rows(decoded.readout), rows(decoded.weights), {}, rows(decoded.hidden), rows(decoded.input)};
  for (const auto& member : decoded.members) {
    steps.members.push_back(narrow_steps(member, first, count));
  }
  return steps;
}

}  // namespace

torch::Tensor OutputLayer::log_probabilities(const DecoderOutput& decoded,
                                             const EncoderOutput& encoded, const Targets& targets) {
  const auto B = targets.all.size(0);
  const auto T = targets.all.size(1);
  const auto at_once = std::max<std::int64_t>(1, rows_at_once / B);
  std::vector<torch::Tensor> parts;  // each [B, n]
  for (std::int64_t t = 0; t < T; t += at_once) {
    const auto n = std::min(at_once, T - t);
    const auto log_p = kernels::log_softmax(logits(narrow_steps(decoded, t, n), encoded));
    parts.push_back(log_p.gather(1, targets.all.narrow(1, t, n).reshape({-1, 1})).view({B, n}));
  }
  return torch::cat(parts, 1).to(torch::kDouble).masked_fill(targets.all == 0, 0);
}

DecoderOutput group_by_sentence(const DecoderStep& step, const EncoderOutput& encoded) {
  const auto view = [B = encoded.states.size(0)](const torch::Tensor& x) {
    return x.defined() ? x.view({B, -1, x.size(1)}) : x;
  };
  return {view(step.readout), view(step.weights), view(step.hidden), view(step.input)};
}

}  // namespace regard
