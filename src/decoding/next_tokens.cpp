#include "decoding/next_tokens.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "decoding/demanded_phrases.h"
#include "kernels/functions.h"
#include "kernels/top_k.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
// A row with more forbidden tokens is cheaper sorted as a whole.
constexpr std::size_t few = 64;

bool is_whole(const Limits& limits) {
  return limits.only || limits.forbidden.size() > few;
}

// log P of all tokens of logits [N, V]: [N, V] double on the CPU.
torch::Tensor log_p_of(const torch::Tensor& logits) {
  return kernels::log_softmax(logits).to(torch::kCPU, torch::kDouble).contiguous();
}

void leave_out(double* log_p, std::int64_t V, const Limits& limits) {
  if (limits.only) {
    const auto kept = log_p[*limits.only];
    std::fill(log_p, log_p + V, minus_infinity);
    log_p[*limits.only] = kept;
    return;
  }
  for (const auto token : limits.forbidden) log_p[token] = minus_infinity;
}

// The places of one row, filled from the front.
struct Row {
  std::int64_t* tokens;
  double* log_p;
  std::int64_t size;
  std::int64_t filled = 0;

  void add(std::int64_t token, double of_token) {
    if (filled == size) return;
    tokens[filled] = token;
    log_p[filled++] = of_token;
  }
  bool has(std::int64_t token) const {
    return std::find(tokens, tokens + filled, token) != tokens + filled;
  }
};

// The k best of all V that the limits leave, and what is asked for.
void add_of_all(const torch::Tensor& logits, std::int64_t k, const Limits& limits,
                const std::vector<std::int32_t>& asked, Row& row) {
  const auto V = logits.size(0);
  auto all = log_p_of(logits);  // [V]
  auto* log_p = all.data_ptr<double>();
  leave_out(log_p, V, limits);
  std::vector<std::int64_t> order(static_cast<std::size_t>(V));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(k, V);
  std::partial_sort(order.begin(), end, order.end(), [&](auto x, auto y) {
    return log_p[x] != log_p[y] ? log_p[x] > log_p[y] : x < y;
  });
  for (auto y = order.begin(); y != end; ++y) {
    if (std::isfinite(log_p[*y])) row.add(*y, log_p[*y]);
  }
  for (const auto token : asked) {
    if (std::isfinite(log_p[token]) && !row.has(token)) row.add(token, log_p[token]);
  }
}

// The k best of those at the top, best first, that are not forbidden.
void add_of_top(const std::int64_t* tokens, const double* log_p, std::int64_t size, std::int64_t k,
                const std::vector<std::int64_t>& forbidden, Row& row) {
  for (std::int64_t i = 0; i < size && row.filled < k; ++i) {
    if (std::count(forbidden.begin(), forbidden.end(), tokens[i]) == 0)
      row.add(tokens[i], log_p[i]);
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
  const auto places = torch::tensor(rows, index) * logits.size(1) + torch::tensor(tokens, index);
  auto penalised = logits.clone(at::MemoryFormat::Contiguous);
  auto flat = penalised.view({-1});
  const auto there = flat.index_select(0, places);
  flat.index_copy_(0, places, torch::where(there > 0, there / penalty, there * penalty));
  return penalised;
}

TokenChooser::TokenChooser(const SearchOptions& options,
                           const std::vector<SentenceOptions>& sentences)
    : options_(options), rules_(token_rules(options_, sentences)) {}

torch::Tensor TokenChooser::penalised(const torch::Tensor& logits,
                                      const std::vector<History>& histories) const {
  if (options_.repetition_penalty == 1) return logits;
  return penalise_repetition(logits, histories, options_.repetition_penalty);
}

std::vector<Limits> TokenChooser::limits_of(std::int64_t rows,
                                            const std::vector<History>& histories) const {
  if (rules_.empty()) return {};
  std::vector<Limits> all(static_cast<std::size_t>(rows), Limits{options_.never, {}});
  for (std::size_t n = 0; n < all.size(); ++n) {
    for (const auto& rule : rules_) rule->limit(histories[n], all[n]);
    auto& forbidden = all[n].forbidden;
    std::sort(forbidden.begin(), forbidden.end());
    forbidden.erase(std::unique(forbidden.begin(), forbidden.end()), forbidden.end());
  }
  return all;
}

torch::Tensor TokenChooser::log_probabilities(const torch::Tensor& logits,
                                              const std::vector<History>& histories) const {
  auto log_p = log_p_of(penalised(logits, histories));
  const auto V = log_p.size(1);
  const auto limits = limits_of(log_p.size(0), histories);
  const Limits always{options_.never, {}};
  for (std::int64_t n = 0; n < log_p.size(0); ++n) {
    leave_out(log_p.data_ptr<double>() + n * V, V,
              limits.empty() ? always : limits[static_cast<std::size_t>(n)]);
  }
  return log_p;
}

NextTokens TokenChooser::best(const torch::Tensor& logits, std::int64_t k,
                              const std::vector<History>& histories) const {
  const auto scores = penalised(logits, histories);
  const auto N = scores.size(0);
  const auto V = scores.size(1);
  const auto limits = limits_of(N, histories);
  auto most = options_.never.size();
  for (const auto& row : limits) {
    if (!is_whole(row)) most = std::max(most, row.forbidden.size());
  }
  // With as many more as may have to be left out, there are always k to keep.
  const auto all = std::min(k + static_cast<std::int64_t>(most), V);
  const auto top = kernels::top_log_probabilities(scores, all);
  const auto log_p = top.log_p.to(torch::kCPU, torch::kDouble).contiguous();
  const auto tokens = top.indices.to(torch::kCPU).contiguous();

  const auto asked = demanded_next(histories, options_.inside_words);
  std::size_t most_asked = 0;
  for (const auto& row : asked) most_asked = std::max(most_asked, row.size());
  const auto kept = std::min(k, V - static_cast<std::int64_t>(options_.never.size()));
  const auto width = kept + static_cast<std::int64_t>(most_asked);
  // Where logits are not numbers there may be fewer: </s> without probability takes their place.
  NextTokens next = {torch::full({N, width}, eos_id, torch::kInt64),
                     torch::full({N, width}, minus_infinity, torch::kDouble)};
  for (std::int64_t n = 0; n < N; ++n) {
    const auto i = static_cast<std::size_t>(n);
    Row row{next.tokens.data_ptr<std::int64_t>() + n * width,
            next.log_p.data_ptr<double>() + n * width, width};
    const std::vector<std::int32_t> none;
    const auto& asked_here = asked.empty() ? none : asked[i];
    if (!limits.empty() && (!asked_here.empty() || is_whole(limits[i]))) {
      add_of_all(scores[n], kept, limits[i], asked_here, row);
    } else {
      add_of_top(tokens.data_ptr<std::int64_t>() + n * all, log_p.data_ptr<double>() + n * all, all,
                 kept, limits.empty() ? options_.never : limits[i].forbidden, row);
    }
  }
  return next;
}

}  // namespace regard
