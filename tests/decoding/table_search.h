// Searches in a table model: its sentences, and an exhaustive search of all translations.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "decoding/search.h"

namespace regard {

constexpr std::int64_t table_tokens = 7;  // <pad> <unk> <s> </s>, and three words
constexpr std::int32_t table_end = 3;
constexpr std::int64_t table_source_length = 4;

// Returns random logits of the next token after each token: [sentences, V, V].
torch::Tensor random_table(std::int64_t sentences, double sharpness = 1);

struct TableInput {
  torch::Tensor source;
  torch::Tensor lengths;
};
// Returns the sentences 0 … n−1 of a table.
TableInput table_sentences(std::int64_t n);

// Returns options with a beam size, α, and a maximum length that does not depend on the source.
SearchRequest table_options(std::int64_t beam, std::int64_t longest, double alpha = 1);

// An exhaustive search in plain C++, for one sentence of a table.
class Exhaustive {
 public:
  Exhaustive(const torch::Tensor& table, const SearchRequest& options);

  // Returns all finished hypotheses that the options allow, best first.
  std::vector<Hypothesis> all() const;
  // Returns log P of each next token, −∞ for those that are not allowed.
  std::vector<double> next(const std::vector<std::int32_t>& history) const;
  double score(const Hypothesis& finished) const;

 private:
  void extend(const Hypothesis& prefix, std::vector<Hypothesis>& all) const;
  bool repeats(const std::vector<std::int32_t>& tokens) const;

  std::vector<std::vector<double>> logits_;
  SearchRequest options_;
};

inline torch::Tensor random_table(std::int64_t sentences, double sharpness) {
  return torch::randn({sentences, table_tokens, table_tokens}, torch::kDouble) * sharpness;
}

inline TableInput table_sentences(std::int64_t n) {
  auto source = torch::full({n, table_source_length}, 4, torch::kLong);
  source.select(1, 0).copy_(torch::arange(n));
  return {source, torch::full({n}, table_source_length, torch::kLong)};
}

inline SearchRequest table_options(std::int64_t beam, std::int64_t longest, double alpha) {
  SearchRequest options;
  options.beam_size = beam;
  options.beam_alpha = alpha;
  options.max_output_length = longest;
  options.max_output_ratio = 0;
  return options;
}

inline Exhaustive::Exhaustive(const torch::Tensor& table, const SearchRequest& options)
    : logits_(table_tokens, std::vector<double>(table_tokens)), options_(options) {
  for (std::int64_t from = 0; from < table_tokens; ++from) {
    for (std::int64_t to = 0; to < table_tokens; ++to)
      logits_[from][to] = table[from][to].item<double>();
  }
}

inline bool Exhaustive::repeats(const std::vector<std::int32_t>& tokens) const {
  const auto n = static_cast<std::size_t>(options_.no_repeat_ngram);
  if (n == 0) return false;
  std::set<std::vector<std::int32_t>> seen;
  for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    if (!seen.insert({first, first + static_cast<std::ptrdiff_t>(n)}).second) return true;
  }
  return false;
}

inline std::vector<double> Exhaustive::next(const std::vector<std::int32_t>& history) const {
  auto x = logits_[history.empty() ? 2 : static_cast<std::size_t>(history.back())];
  for (const auto y : std::set<std::int32_t>(history.begin(), history.end())) {
    x[y] = x[y] > 0 ? x[y] / options_.repetition_penalty : x[y] * options_.repetition_penalty;
  }
  double total = 0;
  for (const auto logit : x) total += std::exp(logit);
  for (std::int32_t y = 0; y < table_tokens; ++y) {
    x[y] -= std::log(total);
    auto longer = history;
    longer.push_back(y);
    const bool too_short = static_cast<std::int64_t>(history.size()) < options_.min_output_length;
    if (y == 0 || y == 2 || (y == table_end && too_short) || (y != table_end && repeats(longer))) {
      x[y] = -INFINITY;
    }
  }
  return x;
}

inline double Exhaustive::score(const Hypothesis& finished) const {
  const double n = static_cast<double>(finished.tokens.size()) + 1;
  double score = finished.log_probability;
  score /= options_.length_penalty == LengthPenalty::power
               ? std::exp(options_.beam_alpha * std::log(n))
               : std::exp(options_.beam_alpha * (std::log(5 + n) - std::log(6.0)));
  if (options_.coverage_beta == 0) return score;
  std::vector<double> seen(table_source_length,
                           0);  // each step attends to one position, given by y_{t−1}
  seen[2 % table_source_length] += 1;
  for (const auto y : finished.tokens) seen[y % table_source_length] += 1;
  for (const auto sum : seen) score += options_.coverage_beta * (sum == 0 ? std::log(1e-10) : 0);
  return score;
}

inline void Exhaustive::extend(const Hypothesis& prefix, std::vector<Hypothesis>& all) const {
  const auto log_p = next(prefix.tokens);
  for (std::int32_t y = 0; y < table_tokens; ++y) {
    if (!std::isfinite(log_p[y])) continue;
    auto longer = prefix;
    longer.log_probability += log_p[y];
    if (y == table_end) {
      longer.finished = true;
      longer.score = score(longer);
      all.push_back(longer);
    } else if (static_cast<std::int64_t>(prefix.tokens.size()) + 1 < options_.max_output_length) {
      longer.tokens.push_back(y);
      extend(longer, all);
    }
  }
}

inline std::vector<Hypothesis> Exhaustive::all() const {
  std::vector<Hypothesis> all;
  extend({}, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

}  // namespace regard
