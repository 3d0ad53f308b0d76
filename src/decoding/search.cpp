#include "decoding/search.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding/beam_search.h"
#include "decoding/greedy_search.h"
#include "kernels/top_k.h"

namespace regard {

double length_penalty(std::int64_t n, double alpha) {
  return std::pow((5.0 + static_cast<double>(n)) / 6.0, alpha);
}

std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  const auto by_ratio =
      static_cast<std::int64_t>(options.max_output_ratio * static_cast<double>(source_length) + 10);
  return std::min(options.max_output_length, by_ratio);
}

NextTokens next_tokens(const torch::Tensor& logits, std::int64_t k, const SearchOptions& options) {
  const auto N = logits.size(0);
  // With as many more as may have to be left out, there are always k to keep.
  const auto others = static_cast<std::int64_t>(options.never.size());
  const auto all = std::min(k + others, logits.size(1));
  const auto top = kernels::top_log_probabilities(logits, all);
  const auto log_p = top.log_p.to(torch::kCPU, torch::kDouble).contiguous();
  const auto tokens = top.indices.to(torch::kCPU).contiguous();

  const auto kept = std::min(k, logits.size(1) - others);
  // Where logits are not numbers there may be fewer: </s> without probability takes their place.
  NextTokens next = {
      torch::full({N, kept}, options.end_token, torch::kInt64),
      torch::full({N, kept}, -std::numeric_limits<double>::infinity(), torch::kDouble)};
  for (std::int64_t n = 0; n < N; ++n) {
    auto* to_token = next.tokens.data_ptr<std::int64_t>() + n * kept;
    auto* to_log_p = next.log_p.data_ptr<double>() + n * kept;
    for (std::int64_t i = 0, filled = 0; i < all && filled < kept; ++i) {
      const auto token = tokens.data_ptr<std::int64_t>()[n * all + i];
      if (std::count(options.never.begin(), options.never.end(), token) > 0) continue;
      to_token[filled] = token;
      to_log_p[filled++] = log_p.data_ptr<double>()[n * all + i];
    }
  }
  return next;
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            kernels::PackedWeights& packed) {
  const torch::InferenceMode guard;
  const kernels::WithPackedWeights with(packed);
  return options.beam_size == 1 ? greedy_search(model, source, lengths, options)
                                : beam_search(model, source, lengths, options);
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options) {
  kernels::PackedWeights packed;
  return search(model, source, lengths, options, packed);
}

}  // namespace regard
