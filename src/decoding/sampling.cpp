#include "decoding/sampling.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "kernels/functions.h"
#include "kernels/loops/functions.h"

namespace regard {
namespace {

struct TokenProbability {
  std::int64_t token;
  double probability;  // P', not normalised
};

// Orders by decreasing probability, then by token.
bool more_probable(const TokenProbability& a, const TokenProbability& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

double total_probability(const std::vector<TokenProbability>& candidates) {
  double total = 0;
  for (const auto& candidate : candidates) total += candidate.probability;
  return total;
}

void keep_top_k(std::vector<TokenProbability>& candidates, std::size_t k) {
  if (k == 0 || k >= candidates.size()) return;
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(k),
                   candidates.end(), more_probable);
  candidates.resize(k);
}

void keep_top_p(std::vector<TokenProbability>& candidates, double p) {
  if (p >= 1) return;
  std::sort(candidates.begin(), candidates.end(), more_probable);
  const auto threshold = p * total_probability(candidates);
  double total = 0;
  std::size_t kept = 0;
  while (kept < candidates.size() && total < threshold) total += candidates[kept++].probability;
  candidates.resize(kept);
}

}  // namespace

template <typename T>
std::int64_t draw_token(const T* log_p, std::int64_t V, const SearchRequest& options,
                        Random& random) {
  const auto u = random.uniform();  // before any return: one number per token
  if (options.top_k == 0 && options.top_p >= 1) {
    return kernels::draw_from_row(V, log_p, options.temperature, u);
  }
  const double best = *std::max_element(log_p, log_p + V);
  std::vector<TokenProbability> candidates;
  for (std::int64_t y = 0; y < V; ++y) {
    const auto probability = std::exp((log_p[y] - best) / options.temperature);
    if (probability > 0) candidates.push_back({y, probability});  // false for NaN
  }
  keep_top_k(candidates, static_cast<std::size_t>(options.top_k));
  keep_top_p(candidates, options.top_p);
  if (candidates.empty()) return -1;
  auto remaining = u * total_probability(candidates);
  for (const auto& candidate : candidates) {
    remaining -= candidate.probability;
    if (remaining < 0) return candidate.token;
  }
  return candidates.back().token;
}

template std::int64_t draw_token(const float*, std::int64_t, const SearchRequest&, Random&);
template std::int64_t draw_token(const double*, std::int64_t, const SearchRequest&, Random&);

NextTokens draw_tokens(const NextLogits& logits, const torch::Tensor& log_probabilities,
                       const SearchRequest& options, const std::vector<Random*>& randoms) {
  const auto N = log_probabilities.size(0);
  const auto V = log_probabilities.size(1);
  NextTokens next = {torch::full({N, 1}, eos_id, torch::kInt64),
                     torch::full({N, 1}, minus_infinity, torch::kDouble)};
  AT_DISPATCH_FLOATING_TYPES(log_probabilities.scalar_type(), "draw_tokens", [&] {
    for (std::int64_t n = 0; n < N; ++n) {
      const auto* log_p = log_probabilities.const_data_ptr<scalar_t>() + n * V;
      const auto token = draw_token(log_p, V, options, *randoms[static_cast<std::size_t>(n)]);
      if (token < 0) continue;
      next.tokens.data_ptr<std::int64_t>()[n] = logits.token(n, token);
      next.log_p.data_ptr<double>()[n] = log_p[token];
    }
  });
  return next;
}

}  // namespace regard
