#include "decoding/sampling.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decoding/score_targets.h"
#include "kernels/loops/functions.h"
#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"

namespace regard::sampling_reference_test {
namespace {

SearchRequest sampled(std::int64_t samples) {
  auto options = table_options(5, 8);
  options.samples = samples;
  return options;
}

// Computes P' in plain loops.
std::vector<double> cut(const std::vector<double>& log_p, const SearchRequest& options) {
  std::vector<double> p;
  for (const auto x : log_p) p.push_back(std::exp(x / options.temperature));
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] > p[b]; });
  const auto k = options.top_k == 0 ? p.size() : static_cast<std::size_t>(options.top_k);
  double of_k = 0;
  for (std::size_t i = 0; i < std::min(k, p.size()); ++i) of_k += p[order[i]];
  double before = 0;
  double total = 0;
  std::vector<double> kept(p.size(), 0);
  for (std::size_t i = 0; i < std::min(k, p.size()); ++i) {
    if (i > 0 && before >= options.top_p * of_k) break;
    before += p[order[i]];
    total += kept[order[i]] = p[order[i]];
  }
  for (auto& share : kept) share /= total;
  return kept;
}

TEST(SamplingReference, FrequenciesEqualTheProbabilities) {
  std::vector<double> log_p = {0.3, 0.05, 0.2, 0.1, 0.25, 0.1, 0};
  for (auto& p : log_p) p = std::log(p);
  Random random(31);
  for (const double temperature : {1.0, 0.5, 2.0}) {
    for (const std::int64_t top_k : {0, 1, 3, 20}) {
      for (const double top_p : {1.0, 0.6, 0.01}) {
        SearchRequest options;
        options.temperature = temperature;
        options.top_k = top_k;
        options.top_p = top_p;
        const auto wanted = cut(log_p, options);
        std::vector<double> counts(log_p.size(), 0);
        constexpr int draws = 20000;
        for (int i = 0; i < draws; ++i) {
          const auto y =
              draw_token(log_p.data(), static_cast<std::int64_t>(log_p.size()), options, random);
          ++counts.at(static_cast<std::size_t>(y));
        }
        for (std::size_t y = 0; y < counts.size(); ++y) {
          const auto spread = std::sqrt(wanted[y] * (1 - wanted[y]) / draws);
          EXPECT_NEAR(counts[y] / draws, wanted[y], 5 * spread) << y;
        }
      }
    }
  }
}

// Token y is drawn for every number u between the total probabilities of y − 1 and of y.
TEST(SamplingReference, DrawsTheTokenWhoseShareOfTheCumulativeProbabilityHasTheNumber) {
  constexpr double tolerance = 1e-6;  // of the exponential functions
  Random random(36);
  for (const std::size_t V : {1, 63, 64, 65, 1000}) {
    for (const double temperature : {1.0, 0.3}) {
      std::vector<double> log_p(V);
      for (auto& x : log_p) x = -20 * random.uniform();
      for (std::size_t y = 2; y < V; y += 3) log_p[y] = -INFINITY;
      std::vector<double> totals;
      for (const auto x : log_p) {
        totals.push_back(std::exp(x / temperature) + (totals.empty() ? 0 : totals.back()));
      }
      for (int i = 0; i <= 400; ++i) {
        const double u = i == 400 ? std::nextafter(1.0, 0.0) : i / 400.0;
        const auto drawn = kernels::draw_from_row(std::ssize(log_p), log_p.data(), temperature, u);
        ASSERT_GE(drawn, 0);
        const auto y = static_cast<std::size_t>(drawn);
        EXPECT_TRUE(std::isfinite(log_p.at(y))) << y;
        EXPECT_LE(u * totals.back(), totals[y] + tolerance * totals.back()) << V << " " << u;
        const auto before = y == 0 ? 0 : totals[y - 1];
        EXPECT_GE(u * totals.back(), before - tolerance * totals.back()) << V << " " << u;
      }
    }
  }
}

TEST(SamplingReference, DrawsTheSameTokenFromSinglePrecision) {
  Random random(37);
  std::vector<float> log_p(1000);
  for (auto& x : log_p) x = static_cast<float>(-20 * random.uniform());
  const std::vector<double> as_double(log_p.begin(), log_p.end());
  for (int i = 0; i < 400; ++i) {
    const double u = random.uniform();
    EXPECT_EQ(kernels::draw_from_row(std::ssize(log_p), log_p.data(), 0.7, u),
              kernels::draw_from_row(std::ssize(log_p), as_double.data(), 0.7, u));
  }
}

TEST(SamplingReference, ReturnsNoTokenIfAllProbabilitiesAreZero) {
  Random random(1);
  const std::vector<double> none = {-INFINITY, -INFINITY};
  const std::vector<double> nan = {NAN, NAN};
  EXPECT_EQ(draw_token(none.data(), 2, {}, random), -1);
  EXPECT_EQ(draw_token(nan.data(), 2, {}, random), -1);
}

TEST(SamplingReference, LogProbabilitiesAreThoseOfTheModel) {
  torch::manual_seed(32);
  TableModel model(random_table(2));
  const auto [source, lengths] = table_sentences(2);
  auto options = sampled(6);
  options.temperature = 0.7;
  options.top_k = 3;
  for (std::int64_t b = 0; b < 2; ++b) {
    const auto found = search(model, {source.narrow(0, b, 1), lengths.narrow(0, b, 1)}, options)[0];
    ASSERT_EQ(found.size(), 6U);
    for (const auto& hypothesis : found) {
      if (!hypothesis.finished) continue;
      std::vector<std::int64_t> target = {2};
      target.insert(target.end(), hypothesis.tokens.begin(), hypothesis.tokens.end());
      target.push_back(table_end);
      const auto forced = score_targets(model, {source.narrow(0, b, 1), lengths.narrow(0, b, 1)},
                                        {torch::tensor(target).unsqueeze(0)}, false);
      EXPECT_NEAR(hypothesis.log_probability, forced[0].log_probability, 1e-9);
    }
  }
}

TEST(SamplingReference, SamplesDependOnlyOnSeedAndLineNumber) {
  torch::manual_seed(33);
  TableModel model(random_table(1).expand({4, -1, -1}).contiguous());
  const auto [source, lengths] = table_sentences(4);
  const std::vector<SentenceOptions> numbers = {{7}, {3}, {900}, {7}};
  const auto together = search(model, {source, lengths}, sampled(5), numbers);
  bool all_alike = true;
  for (std::int64_t b = 0; b < 4; ++b) {
    const auto alone = search(model, {source.narrow(0, b, 1), lengths.narrow(0, b, 1)}, sampled(3),
                              {numbers[b]})[0];
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(alone[n].tokens, together[b][n].tokens);
      EXPECT_EQ(together[3][n].tokens, together[0][n].tokens);  // the same table and number
      all_alike = all_alike && together[b][n].tokens == together[0][n].tokens;
    }
  }
  EXPECT_FALSE(all_alike);
  auto other = sampled(5);
  other.seed = 2;
  const auto found = search(model, {source, lengths}, other, numbers);
  bool same = true;
  for (std::size_t n = 0; n < 5; ++n) same = same && found[0][n].tokens == together[0][n].tokens;
  EXPECT_FALSE(same);
}

TEST(SamplingReference, TopKOneIsGreedySearch) {
  torch::manual_seed(34);
  TableModel model(random_table(5));
  const auto [source, lengths] = table_sentences(5);
  const auto greedy = search(model, {source, lengths}, table_options(1, 8));
  auto options = sampled(2);
  options.top_k = 1;
  const auto found = search(model, {source, lengths}, options);
  for (std::size_t b = 0; b < 5; ++b) {
    for (const auto& hypothesis : found[b]) {
      EXPECT_EQ(hypothesis.tokens, greedy[b][0].tokens);
      EXPECT_NEAR(hypothesis.score, greedy[b][0].score, 1e-9);
    }
  }
}

TEST(SamplingReference, ConstraintsApplyToSamples) {
  torch::manual_seed(35);
  TableModel model(random_table(3));
  const auto [source, lengths] = table_sentences(3);
  auto options = sampled(20);
  options.no_repeat_ngram = 1;
  options.min_output_length = 2;
  for (const auto& samples : search(model, {source, lengths}, options)) {
    for (const auto& hypothesis : samples) {
      auto tokens = hypothesis.tokens;
      EXPECT_GE(tokens.size(), 2U);
      std::sort(tokens.begin(), tokens.end());
      EXPECT_EQ(std::unique(tokens.begin(), tokens.end()), tokens.end());
      for (const auto token : tokens) EXPECT_TRUE(token != 0 && token != 2);
    }
  }
}

}  // namespace
}  // namespace regard::sampling_reference_test
