#include "metrics/pairwise_scores.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/corpus_metric.h"

namespace regard {
namespace {

// The n-grams of one order in all texts.
class OrderIndex {
 public:
  explicit OrderIndex(std::size_t texts) : texts_(texts), totals_(texts, 0) {}

  // Texts must be added in ascending order. The n-grams point into their symbols.
  void add(std::size_t text, const NgramCounts& counts) {
    totals_[text] = static_cast<double>(total_count(counts));
    for (const auto& [ngram, count] : counts) {
      const auto [place, is_new] = places_.try_emplace(ngram, postings_.size());
      if (is_new) postings_.emplace_back();
      postings_[place->second].push_back({text, count});
    }
  }

  // Number of n-grams in a text, repetitions included.
  double total(std::size_t text) const { return totals_[text]; }

  // Returns the clipped matches of all pairs, [N, N], symmetric.
  std::vector<std::int64_t> matches() const {
    std::vector<std::int64_t> sums(texts_ * texts_, 0);
    for (const auto& postings : postings_) {
      for (const auto& a : postings) {
        auto* row = sums.data() + a.text * texts_;
        for (const auto& b : postings) row[b.text] += std::min(a.count, b.count);
      }
    }
    return sums;
  }

 private:
  struct Posting {
    std::size_t text;
    std::int64_t count;
  };
  std::size_t texts_;
  std::vector<double> totals_;
  std::unordered_map<std::u32string_view, std::size_t> places_;  // in postings_
  std::vector<std::vector<Posting>> postings_;                   // of each n-gram, by text
};

// Returns an index of each order from 1 to max_order.
std::vector<OrderIndex> index_orders(const std::vector<std::u32string>& symbols,
                                     std::size_t max_order) {
  std::vector<OrderIndex> orders(max_order, OrderIndex(symbols.size()));
  for (std::size_t text = 0; text < symbols.size(); ++text) {
    const auto counts = count_ngrams(symbols[text], max_order);
    for (std::size_t n = 0; n < max_order; ++n) orders[n].add(text, counts[n]);
  }
  return orders;
}

std::vector<std::vector<std::int64_t>> all_matches(const std::vector<OrderIndex>& orders) {
  std::vector<std::vector<std::int64_t>> matches;
  for (const auto& order : orders) matches.push_back(order.matches());
  return matches;
}

}  // namespace

std::vector<double> pairwise_bleu(const std::vector<std::string>& texts) {
  const BleuOptions options{.effective_order = true};
  const auto N = texts.size();
  WordIds word_ids;
  std::vector<std::u32string> tokens;
  for (const auto& text : texts) tokens.push_back(bleu_tokens(text, options, word_ids));
  const auto orders = index_orders(tokens, bleu_order);
  const auto matches = all_matches(orders);

  std::vector<double> scores(N * N);
  for (std::size_t h = 0; h < N; ++h) {
    for (std::size_t r = 0; r < N; ++r) {
      std::array<double, bleu_count_size> counts{};
      counts[bleu_system_length] = static_cast<double>(tokens[h].size());
      counts[bleu_reference_length] = static_cast<double>(tokens[r].size());
      for (std::size_t n = 0; n < bleu_order; ++n) {
        counts[bleu_matches + n] = static_cast<double>(matches[n][h * N + r]);
        counts[bleu_totals + n] = orders[n].total(h);
      }
      scores[h * N + r] = compute_bleu(counts, options).score;
    }
  }
  return scores;
}

std::vector<double> pairwise_chrf(const std::vector<std::string>& texts) {
  const ChrfOptions options{};
  const auto N = texts.size();
  WordIds word_ids;
  std::vector<std::u32string> characters;
  for (const auto& text : texts) {
    characters.push_back(chrf_symbols(text, options, word_ids).characters);
  }
  const auto orders = index_orders(characters, options.char_order);
  const auto matches = all_matches(orders);

  std::vector<double> scores(N * N);
  std::vector<double> counts;
  for (std::size_t h = 0; h < N; ++h) {
    for (std::size_t r = 0; r < N; ++r) {
      counts.clear();
      for (std::size_t n = 0; n < orders.size(); ++n) {
        const auto reference = orders[n].total(r);
        counts.insert(counts.end(), {reference == 0 ? 0 : orders[n].total(h), reference,
                                     static_cast<double>(matches[n][h * N + r])});
      }
      scores[h * N + r] = compute_chrf(counts, options);
    }
  }
  return scores;
}

}  // namespace regard
