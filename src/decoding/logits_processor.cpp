#include "decoding/logits_processor.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "decoding/lexical_constraints.h"
#include "kernels/functions.h"
#include "kernels/token_probabilities.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
// Rows with more banned tokens than this are sorted completely, because it is cheaper.
constexpr std::size_t max_banned_for_top_k = 64;

bool needs_full_sort(const TokenMask& mask) {
  return mask.forced || mask.banned.size() > max_banned_for_top_k;
}

// Returns log P of all tokens of logits [N, V]: [N, V] double on the CPU.
torch::Tensor log_softmax_on_cpu(const torch::Tensor& logits) {
  return kernels::log_softmax(logits).to(torch::kCPU, torch::kDouble).contiguous();
}

void apply_mask(double* log_p, std::int64_t V, const TokenMask& mask) {
  if (mask.forced) {
    const auto forced_log_p = log_p[*mask.forced];
    std::fill(log_p, log_p + V, minus_infinity);
    log_p[*mask.forced] = forced_log_p;
    return;
  }
  for (const auto token : mask.banned) log_p[token] = minus_infinity;
}

// One row of the result, filled from the front.
struct Row {
  std::int64_t* tokens;
  double* log_p;
  std::int64_t size;
  std::int64_t filled = 0;

  void add(std::int64_t token, double token_log_p) {
    if (filled == size) return;
    tokens[filled] = token;
    log_p[filled++] = token_log_p;
  }
  bool has(std::int64_t token) const {
    return std::find(tokens, tokens + filled, token) != tokens + filled;
  }
};

// Sorts all V tokens and adds the k best allowed ones and the required ones.
void add_from_all(const torch::Tensor& logits, std::int64_t k, const TokenMask& mask,
                  const std::vector<std::int32_t>& required, Row& row) {
  const auto V = logits.size(0);
  auto all = log_softmax_on_cpu(logits);  // [V]
  auto* log_p = all.data_ptr<double>();
  apply_mask(log_p, V, mask);
  std::vector<std::int64_t> order(static_cast<std::size_t>(V));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(k, V);
  std::partial_sort(order.begin(), end, order.end(), [&](auto x, auto y) {
    return log_p[x] != log_p[y] ? log_p[x] > log_p[y] : x < y;
  });
  for (auto y = order.begin(); y != end; ++y) {
    if (std::isfinite(log_p[*y])) row.add(*y, log_p[*y]);
  }
  for (const auto token : required) {
    if (std::isfinite(log_p[token]) && !row.has(token)) row.add(token, log_p[token]);
  }
}

// Adds the k best tokens that are not banned, from a sorted list.
void add_from_top(const std::int64_t* tokens, const double* log_p, std::int64_t size,
                  std::int64_t k, const std::vector<std::int64_t>& banned, Row& row) {
  for (std::int64_t i = 0; i < size && row.filled < k; ++i) {
    if (std::count(banned.begin(), banned.end(), tokens[i]) == 0) row.add(tokens[i], log_p[i]);
  }
}

}  // namespace

torch::Tensor penalise_repetition(const torch::Tensor& logits,
                                  const std::vector<History>& histories, double penalty) {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> tokens;
  for (std::size_t n = 0; n < histories.size(); ++n) {
    for (const auto token : histories[n].tokens) {
      rows.push_back(static_cast<std::int64_t>(n));
      tokens.push_back(token);
    }
  }
  if (rows.empty()) return logits;
  const auto index = torch::TensorOptions(torch::kInt64).device(logits.device());
  const auto positions = torch::tensor(rows, index) * logits.size(1) + torch::tensor(tokens, index);
  auto penalised = logits.clone(at::MemoryFormat::Contiguous);
  auto flat = penalised.view({-1});
  const auto values = flat.index_select(0, positions);
  flat.index_copy_(0, positions, torch::where(values > 0, values / penalty, values * penalty));
  return penalised;
}

LogitsProcessor::LogitsProcessor(const SearchOptions& options,
                                 const std::vector<SentenceOptions>& sentences)
    : options_(options), constraints_(token_constraints(options_, sentences)) {}

torch::Tensor LogitsProcessor::penalised(const torch::Tensor& logits,
                                         const std::vector<History>& histories) const {
  if (options_.repetition_penalty == 1) return logits;
  return penalise_repetition(logits, histories, options_.repetition_penalty);
}

std::vector<TokenMask> LogitsProcessor::token_masks(std::int64_t rows,
                                                    const std::vector<History>& histories) const {
  if (constraints_.empty()) return {};
  std::vector<TokenMask> masks(static_cast<std::size_t>(rows),
                               TokenMask{options_.suppressed_tokens, {}});
  for (std::size_t n = 0; n < masks.size(); ++n) {
    for (const auto& constraint : constraints_) constraint->apply(histories[n], masks[n]);
    auto& banned = masks[n].banned;
    std::sort(banned.begin(), banned.end());
    banned.erase(std::unique(banned.begin(), banned.end()), banned.end());
  }
  return masks;
}

torch::Tensor LogitsProcessor::log_probabilities(const torch::Tensor& logits,
                                                 const std::vector<History>& histories) const {
  auto log_p = log_softmax_on_cpu(penalised(logits, histories));
  const auto V = log_p.size(1);
  const auto masks = token_masks(log_p.size(0), histories);
  const TokenMask default_mask{options_.suppressed_tokens, {}};
  for (std::int64_t n = 0; n < log_p.size(0); ++n) {
    apply_mask(log_p.data_ptr<double>() + n * V, V,
               masks.empty() ? default_mask : masks[static_cast<std::size_t>(n)]);
  }
  return log_p;
}

NextTokens LogitsProcessor::best(const torch::Tensor& logits, std::int64_t k,
                                 const std::vector<History>& histories) const {
  const auto scores = penalised(logits, histories);
  const auto N = scores.size(0);
  const auto V = scores.size(1);
  const auto masks = token_masks(N, histories);
  auto max_banned = options_.suppressed_tokens.size();
  for (const auto& mask : masks) {
    if (!needs_full_sort(mask)) max_banned = std::max(max_banned, mask.banned.size());
  }
  // Selects k tokens plus the number of banned tokens, so that k remain.
  const auto top_k = std::min(k + static_cast<std::int64_t>(max_banned), V);
  const auto top = kernels::top_log_probabilities(scores, top_k);
  const auto log_p = top.log_p.to(torch::kCPU, torch::kDouble).contiguous();
  const auto tokens = top.indices.to(torch::kCPU).contiguous();

  const auto required = next_required_tokens(histories, options_.continues_word);
  std::size_t max_required = 0;
  for (const auto& tokens_of_row : required) {
    max_required = std::max(max_required, tokens_of_row.size());
  }
  const auto kept = std::min(k, V - static_cast<std::int64_t>(options_.suppressed_tokens.size()));
  const auto width = kept + static_cast<std::int64_t>(max_required);
  // If logits are NaN, there may be fewer tokens; fills the rest with </s> and log-probability −∞.
  NextTokens next = {torch::full({N, width}, eos_id, torch::kInt64),
                     torch::full({N, width}, minus_infinity, torch::kDouble)};
  for (std::int64_t n = 0; n < N; ++n) {
    const auto i = static_cast<std::size_t>(n);
    Row row{next.tokens.data_ptr<std::int64_t>() + n * width,
            next.log_p.data_ptr<double>() + n * width, width};
    const std::vector<std::int32_t> none;
    const auto& row_required = required.empty() ? none : required[i];
    if (!masks.empty() && (!row_required.empty() || needs_full_sort(masks[i]))) {
      add_from_all(scores[n], kept, masks[i], row_required, row);
    } else {
      add_from_top(tokens.data_ptr<std::int64_t>() + n * top_k,
                   log_p.data_ptr<double>() + n * top_k, top_k, kept,
                   masks.empty() ? options_.suppressed_tokens : masks[i].banned, row);
    }
  }
  return next;
}

}  // namespace regard
