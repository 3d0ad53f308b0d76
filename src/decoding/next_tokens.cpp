#include "decoding/next_tokens.h"

#include <torch/utils.h>

#include <algorithm>
#include <limits>

#include "kernels/top_k.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

}  // namespace

torch::Tensor penalise_repetition(const torch::Tensor& logits,
                                  const std::vector<std::vector<std::int32_t>>& histories,
                                  double penalty) {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> tokens;
  for (std::size_t n = 0; n < histories.size(); ++n) {
    for (const auto token : histories[n]) {
      rows.push_back(static_cast<std::int64_t>(n));
      tokens.push_back(token);
    }
  }
  if (rows.empty()) return logits;
  const auto index = torch::TensorOptions(torch::kInt64).device(logits.device());
  const auto places = torch::tensor(rows, index) * logits.size(1) + torch::tensor(tokens, index);
  auto penalised = logits.clone(at::MemoryFormat::Contiguous);
  auto flat = penalised.view({-1});
  const auto there = flat.index_select(0, places);
  flat.index_copy_(0, places, torch::where(there > 0, there / penalty, there * penalty));
  return penalised;
}

TokenChooser::TokenChooser(const SearchOptions& options)
    : options_(options), rules_(token_rules(options)) {}

std::vector<std::vector<std::int64_t>> TokenChooser::forbidden(
    std::int64_t rows, const std::vector<std::vector<std::int32_t>>& histories) const {
  if (rules_.empty()) return {};
  std::vector<std::vector<std::int64_t>> all(static_cast<std::size_t>(rows), options_.never);
  for (std::size_t n = 0; n < all.size(); ++n) {
    for (const auto& rule : rules_) rule->forbid(histories[n], all[n]);
    std::sort(all[n].begin(), all[n].end());
    all[n].erase(std::unique(all[n].begin(), all[n].end()), all[n].end());
  }
  return all;
}

torch::Tensor TokenChooser::penalised(
    const torch::Tensor& logits, const std::vector<std::vector<std::int32_t>>& histories) const {
  if (options_.repetition_penalty == 1) return logits;
  return penalise_repetition(logits, histories, options_.repetition_penalty);
}

torch::Tensor TokenChooser::log_probabilities(
    const torch::Tensor& logits, const std::vector<std::vector<std::int32_t>>& histories) const {
  auto log_p =
      penalised(logits, histories).log_softmax(-1).to(torch::kCPU, torch::kDouble).contiguous();
  const auto left_out = forbidden(log_p.size(0), histories);
  for (std::int64_t n = 0; n < log_p.size(0); ++n) {
    auto* row = log_p.data_ptr<double>() + n * log_p.size(1);
    const auto& out = left_out.empty() ? options_.never : left_out[static_cast<std::size_t>(n)];
    for (const auto token : out) row[token] = minus_infinity;
  }
  return log_p;
}

NextTokens TokenChooser::best(const torch::Tensor& logits, std::int64_t k,
                              const std::vector<std::vector<std::int32_t>>& histories) const {
  const auto scores = penalised(logits, histories);
  const auto N = scores.size(0);
  const auto V = scores.size(1);
  const auto left_out = forbidden(N, histories);
  auto most = options_.never.size();
  for (const auto& row : left_out) most = std::max(most, row.size());
  // With as many more as may have to be left out, there are always k to keep.
  const auto all = std::min(k + static_cast<std::int64_t>(most), V);
  const auto top = kernels::top_log_probabilities(scores, all);
  const auto log_p = top.log_p.to(torch::kCPU, torch::kDouble).contiguous();
  const auto tokens = top.indices.to(torch::kCPU).contiguous();

  const auto kept = std::min(k, V - static_cast<std::int64_t>(options_.never.size()));
  // Where logits are not numbers there may be fewer: </s> without probability takes their place.
  NextTokens next = {torch::full({N, kept}, options_.end_token, torch::kInt64),
                     torch::full({N, kept}, minus_infinity, torch::kDouble)};
  for (std::int64_t n = 0; n < N; ++n) {
    const auto& out = left_out.empty() ? options_.never : left_out[static_cast<std::size_t>(n)];
    auto* to_token = next.tokens.data_ptr<std::int64_t>() + n * kept;
    auto* to_log_p = next.log_p.data_ptr<double>() + n * kept;
    for (std::int64_t i = 0, filled = 0; i < all && filled < kept; ++i) {
      const auto token = tokens.data_ptr<std::int64_t>()[n * all + i];
      if (std::count(out.begin(), out.end(), token) > 0) continue;
      to_token[filled] = token;
      to_log_p[filled++] = log_p.data_ptr<double>()[n * all + i];
    }
  }
  return next;
}

}  // namespace regard
