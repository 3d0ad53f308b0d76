#include "decoding/logits_processor.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "decoding/lexical_constraints.h"
#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/token_probabilities.h"
#include "model/output/batch_shortlist.h"

namespace regard {
namespace {

// Rows with more banned tokens than this are sorted completely, because it is cheaper.
constexpr std::size_t max_banned_for_top_k = 64;

bool needs_full_sort(const TokenMask& mask) {
  return !mask.forced.empty() || mask.banned.size() > max_banned_for_top_k;
}

// Returns log P of all tokens of logits [N, V], in single or double precision: [N, V] on the CPU,
// in the same precision.
torch::Tensor log_softmax_on_cpu(const torch::Tensor& logits) {
  return from_device(kernels::log_softmax(logits)).contiguous();
}

template <typename T>
void apply_mask(T* log_p, std::int64_t V, const TokenMask& mask) {
  if (!mask.forced.empty()) {
    std::vector<T> kept;
    for (const auto token : mask.forced) kept.push_back(log_p[token]);
    std::fill(log_p, log_p + V, static_cast<T>(minus_infinity));
    for (std::size_t i = 0; i < kept.size(); ++i) log_p[mask.forced[i]] = kept[i];
    return;
  }
  for (const auto token : mask.banned) log_p[token] = static_cast<T>(minus_infinity);
}

// One row of the result, filled from the front.
struct Row {
  const NextLogits& logits;
  std::int64_t n;  // index of the row
  std::int64_t* tokens;
  double* log_p;
  std::int64_t size;
  std::int64_t filled = 0;

  // Adds the token of a column, unless its probability is 0.
  void add(std::int64_t column, double column_log_p) {
    if (filled == size || column_log_p == minus_infinity) return;
    tokens[filled] = logits.token(n, column);
    log_p[filled++] = column_log_p;
  }
  bool has(std::int64_t token) const {
    return std::find(tokens, tokens + filled, token) != tokens + filled;
  }
};

// Sorts all columns and adds the k best allowed ones and the required tokens. The mask has columns.
void add_from_all(std::int64_t k, const TokenMask& mask, const std::vector<std::int32_t>& required,
                  Row& row) {
  const auto V = row.logits.values.size(1);
  auto all = log_softmax_on_cpu(row.logits.values[row.n]).to(torch::kDouble);  // [V]
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
    const auto column = row.logits.column(row.n, token);
    if (column && std::isfinite(log_p[*column]) && !row.has(token))
      row.add(*column, log_p[*column]);
  }
}

// Adds the k best columns that are not banned, from a sorted list.
void add_from_top(const std::int64_t* columns, const double* log_p, std::int64_t size,
                  std::int64_t k, const std::vector<std::int64_t>& banned, Row& row) {
  for (std::int64_t i = 0; i < size && row.filled < k; ++i) {
    if (std::count(banned.begin(), banned.end(), columns[i]) == 0) row.add(columns[i], log_p[i]);
  }
}

}  // namespace

const std::int64_t* NextLogits::tokens_of(std::int64_t n) const {
  const auto hypotheses = values.size(0) / tokens.size(0);  // of each sentence
  return tokens.const_data_ptr<std::int64_t>() + n / hypotheses * tokens.size(1);
}

std::int64_t NextLogits::token(std::int64_t n, std::int64_t column) const {
  return tokens.defined() ? tokens_of(n)[column] : column;
}

std::optional<std::int64_t> NextLogits::column(std::int64_t n, std::int64_t token) const {
  if (!tokens.defined()) return token;
  const auto* first = tokens_of(n);
  const auto* last = first + tokens.size(1);
  const auto* found = std::lower_bound(first, last, token);
  if (found == last || *found != token) return std::nullopt;
  return found - first;
}

NextLogits next_logits(Seq2Seq& model, const DecoderStep& step, const EncoderOutput& encoded) {
  NextLogits next = {model.output_layer().logits(step, encoded)};
  if (encoded.shortlist) next.tokens = encoded.shortlist->tokens(encoded.sentences);
  return next;
}

NextLogits penalise_repetition(const NextLogits& logits, const std::vector<History>& histories,
                               double penalty) {
  const auto& [values, tokens] = std::tie(logits.values, logits.tokens);
  std::vector<std::int64_t> positions;  // in the flattened values
  for (std::size_t h = 0; h < histories.size(); ++h) {
    const auto n = static_cast<std::int64_t>(h);
    for (const auto token : histories[h].tokens) {
      const auto column = logits.column(n, token);
      if (column) positions.push_back(n * values.size(1) + *column);
    }
  }
  if (positions.empty()) return logits;
  const auto index = to_device(torch::tensor(positions, torch::kInt64), values.device());
  auto penalised = values.clone(at::MemoryFormat::Contiguous);
  auto flat = penalised.view({-1});
  const auto x = flat.index_select(0, index);
  flat.index_copy_(0, index, torch::where(x > 0, x / penalty, x * penalty));
  return {penalised, tokens};
}

LogitsProcessor::LogitsProcessor(const SearchRequest& options)
    : options_(options), constraints_(token_constraints(options_, kinds_)) {}

void LogitsProcessor::include(const SentenceOptions& sentence) {
  auto kinds = kinds_;
  kinds.include(sentence);
  if (kinds == kinds_) return;
  kinds_ = kinds;
  constraints_ = token_constraints(options_, kinds_);
}

NextLogits LogitsProcessor::penalised(const NextLogits& logits,
                                      const std::vector<History>& histories) const {
  if (options_.repetition_penalty == 1) return logits;
  return penalise_repetition(logits, histories, options_.repetition_penalty);
}

std::vector<TokenMask> LogitsProcessor::column_masks(const NextLogits& logits,
                                                     const std::vector<History>& histories) const {
  if (constraints_.empty() && !logits.tokens.defined()) return {};
  std::vector<TokenMask> masks(static_cast<std::size_t>(logits.values.size(0)),
                               TokenMask{.banned = options_.suppressed_tokens});
  for (std::size_t n = 0; n < masks.size(); ++n) {
    auto& [banned, forced, end] = masks[n];
    for (const auto& constraint : constraints_) constraint->apply(histories[n], masks[n]);
    for (auto token = end; token < logits.values.size(1); ++token) banned.push_back(token);
    std::sort(banned.begin(), banned.end());
    banned.erase(std::unique(banned.begin(), banned.end()), banned.end());
    if (!logits.tokens.defined()) continue;
    const auto row = static_cast<std::int64_t>(n);
    std::vector<std::int64_t> columns;
    for (const auto token : banned) {
      if (const auto column = logits.column(row, token)) columns.push_back(*column);
    }
    banned = std::move(columns);
    if (forced.empty()) continue;
    columns.clear();
    for (const auto token : forced) {
      if (const auto column = logits.column(row, token)) columns.push_back(*column);
    }
    TORCH_CHECK(!columns.empty(), "the shortlist of a sentence lacks a token of its prefix");
    forced = columns;
  }
  return masks;
}

torch::Tensor LogitsProcessor::log_probabilities(const NextLogits& logits,
                                                 const std::vector<History>& histories) const {
  auto log_p = log_softmax_on_cpu(penalised(logits, histories).values);
  const auto V = log_p.size(1);
  const auto masks = column_masks(logits, histories);
  const TokenMask default_mask{.banned = options_.suppressed_tokens};
  AT_DISPATCH_FLOATING_TYPES(log_p.scalar_type(), "log_probabilities", [&] {
    for (std::int64_t n = 0; n < log_p.size(0); ++n) {
      apply_mask(log_p.mutable_data_ptr<scalar_t>() + n * V, V,
                 masks.empty() ? default_mask : masks[static_cast<std::size_t>(n)]);
    }
  });
  return log_p;
}

bool LogitsProcessor::needs_only_top() const {
  const bool has_minimum = options_.min_output_length > 0;
  return constraints_.size() == (has_minimum ? 1 : 0) && options_.repetition_penalty == 1;
}

std::int64_t LogitsProcessor::top_count(std::int64_t k) const {
  return k + std::ssize(options_.suppressed_tokens) +
         std::ssize(constraints_);  // </s> may be banned
}

NextTokens LogitsProcessor::best_of_top(const kernels::TopK& top, std::int64_t k,
                                        const std::vector<History>& histories) const {
  const auto N = top.indices.size(0), found = top.indices.size(1);
  const auto log_p = top.log_p.to(torch::kDouble).contiguous();
  const auto columns = top.indices.contiguous();
  const auto suppressed = static_cast<std::int64_t>(options_.suppressed_tokens.size());
  const auto kept = std::min(k, found - suppressed);
  NextTokens next = {torch::full({N, kept}, eos_id, torch::kInt64),
                     torch::full({N, kept}, minus_infinity, torch::kDouble)};
  const NextLogits all_tokens;
  for (std::int64_t n = 0; n < N; ++n) {
    Row row{all_tokens, n, next.tokens.data_ptr<std::int64_t>() + n * kept,
            next.log_p.data_ptr<double>() + n * kept, kept};
    TokenMask mask{.banned = options_.suppressed_tokens};
    for (const auto& constraint : constraints_) {
      constraint->apply(histories[static_cast<std::size_t>(n)], mask);
    }
    add_from_top(columns.data_ptr<std::int64_t>() + n * found, log_p.data_ptr<double>() + n * found,
                 found, kept, mask.banned, row);
  }
  return next;
}

NextTokens LogitsProcessor::best(const NextLogits& logits, std::int64_t k,
                                 const std::vector<History>& histories) const {
  const auto scores = penalised(logits, histories);
  const auto N = scores.values.size(0);
  const auto V = scores.values.size(1);
  const auto masks = column_masks(scores, histories);
  if (masks.empty()) {
    const auto count = std::min(top_count(k), V);
    return best_of_top(kernels::top_log_probabilities(scores.values, count), k, histories);
  }
  auto max_banned = options_.suppressed_tokens.size();
  for (const auto& mask : masks) {
    if (!needs_full_sort(mask)) max_banned = std::max(max_banned, mask.banned.size());
  }
  // Selects k tokens plus the number of banned tokens, so that k remain.
  const auto top_k = std::min(k + static_cast<std::int64_t>(max_banned), V);
  const auto top = kernels::top_log_probabilities(scores.values, top_k);
  const auto log_p = top.log_p.to(torch::kDouble).contiguous();
  const auto columns = top.indices.contiguous();

  const auto required = next_required_tokens(histories, options_.words);
  std::size_t max_required = 0;
  for (const auto& tokens_of_row : required) {
    max_required = std::max(max_required, tokens_of_row.size());
  }
  // A shortlist may lack the suppressed tokens, and V is then the largest shortlist of the batch.
  const auto suppressed = static_cast<std::int64_t>(options_.suppressed_tokens.size());
  const auto kept = std::min(k, scores.tokens.defined() ? V : V - suppressed);
  const auto width = kept + static_cast<std::int64_t>(max_required);
  // If logits are NaN, there may be fewer tokens; fills the rest with </s> and log-probability −∞.
  NextTokens next = {torch::full({N, width}, eos_id, torch::kInt64),
                     torch::full({N, width}, minus_infinity, torch::kDouble)};
  for (std::int64_t n = 0; n < N; ++n) {
    const auto i = static_cast<std::size_t>(n);
    Row row{scores, n, next.tokens.data_ptr<std::int64_t>() + n * width,
            next.log_p.data_ptr<double>() + n * width, width};
    const std::vector<std::int32_t> none;
    const auto& row_required = required.empty() ? none : required[i];
    if (!row_required.empty() || needs_full_sort(masks[i])) {
      add_from_all(kept, masks[i], row_required, row);
    } else {
      add_from_top(columns.data_ptr<std::int64_t>() + n * top_k,
                   log_p.data_ptr<double>() + n * top_k, top_k, kept, masks[i].banned, row);
    }
  }
  return next;
}

}  // namespace regard
