#include "kernels/top_k.h"

#include "kernels/fused.h"
#include "kernels/top_k_rows.h"

namespace regard::kernels {

TopK top_log_probabilities(const torch::Tensor& logits, std::int64_t k) {
  if (!is_fused_on(logits)) return top_log_probabilities_reference(logits, k);
  const auto N = logits.size(0);
  const auto rows = logits.contiguous();
  TopK top = {torch::empty({N, k}, logits.options()), torch::empty({N, k}, torch::kInt64)};
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "top_log_probabilities", [&] {
    top_k_rows(N, rows.size(1), k, rows.const_data_ptr<scalar_t>(),
               top.log_p.mutable_data_ptr<scalar_t>(),
               top.indices.mutable_data_ptr<std::int64_t>());
  });
  return top;
}

TopK top_log_probabilities_reference(const torch::Tensor& logits, std::int64_t k) {
  const auto [log_p, indices] = logits.log_softmax(-1).topk(k, -1);
  return {log_p, indices};
}

}  // namespace regard::kernels
