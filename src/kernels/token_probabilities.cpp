#include "kernels/token_probabilities.h"

#include <torch/utils.h>

#include <algorithm>
#include <limits>

#include "kernels/device.h"
#include "kernels/linear.h"
#include "kernels/loops/functions.h"
#include "kernels/mode.h"

namespace regard::kernels {

// The indices of N · k tokens, followed by their log-probabilities.
TopK top_of_block(const torch::Tensor& block, std::int64_t N, std::int64_t k,
                  torch::ScalarType type) {
  const auto split = N * k * static_cast<std::int64_t>(sizeof(std::int64_t));
  return {.log_p = block.narrow(0, split, block.size(0) - split).view(type).view({N, k}),
          .indices = block.narrow(0, 0, split).view(torch::kInt64).view({N, k})};
}

torch::Tensor top_log_probabilities_block(const torch::Tensor& logits, std::int64_t k) {
  const auto N = logits.size(0);
  const auto bytes =
      N * k * static_cast<std::int64_t>(sizeof(std::int64_t) + logits.element_size());
  const auto block = torch::empty({bytes}, logits.options().dtype(torch::kByte));
  auto [log_p, indices] = top_of_block(block, N, k, logits.scalar_type());
  at::topk_out(log_p, indices, logits.log_softmax(-1), k, -1);
  return block;
}

TopK top_log_probabilities(const torch::Tensor& logits, std::int64_t k) {
  if (!logits.is_cpu()) {  // one copy to the CPU
    const auto block = from_device(top_log_probabilities_block(logits, k));
    return top_of_block(block, logits.size(0), k, logits.scalar_type());
  }
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

torch::Tensor target_log_probabilities(const torch::Tensor& rows, const torch::Tensor& W,
                                       const torch::Tensor& b, const torch::Tensor& targets) {
  constexpr std::int64_t rows_at_once = 192;
  const auto N = rows.size(0);
  auto all = torch::empty({N}, rows.options());
  for (std::int64_t begin = 0; begin < N; begin += rows_at_once) {
    const auto n = std::min(rows_at_once, N - begin);
    const auto logits = kernels::linear(rows.narrow(0, begin, n), W, b);  // [n, V]
    const auto y = targets.narrow(0, begin, n).contiguous();
    const auto log_p = all.narrow(0, begin, n);
    if (!in_search(logits)) {
      log_p.copy_(logits.log_softmax(-1).gather(1, y.unsqueeze(1)).squeeze(1));
      continue;
    }
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "target_log_probabilities", [&] {
      target_log_p_rows<scalar_t>(n, logits.size(1), logits.const_data_ptr<scalar_t>(),
                                  y.const_data_ptr<std::int64_t>(),
                                  log_p.mutable_data_ptr<scalar_t>());
    });
  }
  return all;
}

torch::Tensor select_columns(const torch::Tensor& logits, const torch::Tensor& columns) {
  if (!is_fused_on(logits)) return select_columns_reference(logits, columns);
  const auto N = logits.size(0), U = logits.size(1), B = columns.size(0), K = columns.size(1);
  const auto from = logits.contiguous();
  const auto places = columns.contiguous();
  auto selected = torch::empty({N, K}, logits.options());
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "select_columns", [&] {
    constexpr auto minus_infinity = -std::numeric_limits<scalar_t>::infinity();
    const auto* x = from.const_data_ptr<scalar_t>();
    auto* y = selected.mutable_data_ptr<scalar_t>();
    for (std::int64_t n = 0; n < N; ++n, x += U, y += K) {
      const auto* column = places.const_data_ptr<std::int64_t>() + n / (N / B) * K;
      for (std::int64_t k = 0; k < K; ++k) y[k] = column[k] < 0 ? minus_infinity : x[column[k]];
    }
  });
  return selected;
}

torch::Tensor select_columns_reference(const torch::Tensor& logits, const torch::Tensor& columns) {
  const auto by_row = columns.repeat_interleave(logits.size(0) / columns.size(0), 0);  // [N, K]
  return logits.gather(1, by_row.clamp_min(0))
      .masked_fill(by_row < 0, -std::numeric_limits<double>::infinity());
}

}  // namespace regard::kernels
