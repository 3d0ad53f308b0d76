#include "loss/cross_entropy.h"

namespace regard {

Loss cross_entropy(const torch::Tensor& readout, const torch::Tensor& targets,
                   const std::function<torch::Tensor(const torch::Tensor&)>& logits,
                   double label_smoothing) {
  const auto real = targets.flatten().nonzero().squeeze(1);       // [N]
  const auto y = targets.flatten().index_select(0, real);         // [N]
  const auto rows = readout.flatten(0, 1).index_select(0, real);  // [N, R]
  const auto log_p = logits(rows).log_softmax(-1);                // [N, V]
  const auto nll = -log_p.gather(1, y.unsqueeze(1)).sum();
  if (label_smoothing == 0) return {nll, nll.detach()};
  const auto uniform = -log_p.sum() / log_p.size(1);
  return {(1 - label_smoothing) * nll + label_smoothing * uniform, nll.detach()};
}

}  // namespace regard
