#include "decoding/search.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <numeric>

#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"

namespace regard::search_reference_test {
namespace {

constexpr std::int64_t V = table_tokens;
constexpr std::int64_t end_token = 3;

TEST(SearchReference, AWideBeamFindsTheBestSequence) {
  torch::manual_seed(1);
  for (const double alpha : {0.0, 1.0}) {
    const auto table = random_table(3);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(3);
    const auto options = table_options(800, 4, alpha);
    const auto found = search(model, {source, lengths}, options);
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto all = Exhaustive(table[i], options).all();
      ASSERT_EQ(found[i].size(), all.size());
      for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_NEAR(found[i][k].score, all[k].score, 1e-9) << k;
      }
      EXPECT_EQ(found[i][0].tokens, all[0].tokens);
    }
  }
}

TEST(SearchReference, GreedySearchTakesTheMostProbableTokens) {
  torch::manual_seed(2);
  const auto table = random_table(5).log_softmax(-1);
  TableModel model(table);
  const auto [source, lengths] = table_sentences(5);
  const auto found = search(model, {source, lengths}, table_options(1, 12));
  for (std::int64_t i = 0; i < 5; ++i) {
    std::vector<std::int32_t> tokens;
    double log_p = 0;
    for (std::int64_t last = 2; tokens.size() < 12;) {
      auto row = table[i][last].clone();
      row[0] = row[2] = -INFINITY;
      last = row.argmax().item<std::int64_t>();
      log_p += row[last].item<double>();
      if (last == end_token) break;
      tokens.push_back(static_cast<std::int32_t>(last));
    }
    EXPECT_EQ(found[i][0].tokens, tokens);
    EXPECT_NEAR(found[i][0].log_probability, log_p, 1e-9);
  }
}

TEST(Search, AWiderBeamIsNeverWorse) {
  torch::manual_seed(4);
  TableModel model(random_table(20));
  const auto [source, lengths] = table_sentences(20);
  const auto narrow = search(model, {source, lengths}, table_options(1, 5, 0));
  const auto wide = search(model, {source, lengths}, table_options(200, 5, 0));
  for (std::size_t i = 0; i < 20; ++i) {
    if (narrow[i][0].finished) {
      EXPECT_GE(wide[i][0].score, narrow[i][0].score - 1e-12);
    }
  }
}

TEST(Search, TheLengthLimitEndsTranslations) {
  auto table = torch::zeros({1, V, V}, torch::kDouble);
  table.select(2, end_token).fill_(-1e9);
  TableModel model(table.log_softmax(-1));
  const auto [source, lengths] = table_sentences(1);
  for (const std::int64_t beam : {1, 4}) {
    const auto found = search(model, {source, lengths}, table_options(beam, 6));
    EXPECT_EQ(found[0][0].tokens.size(), 6U);
    EXPECT_FALSE(found[0][0].finished);
    const auto& of_tokens = found[0][0].token_log_p;
    ASSERT_EQ(of_tokens.size(), 6U);
    EXPECT_NEAR(std::accumulate(of_tokens.begin(), of_tokens.end(), 0.0),
                found[0][0].log_probability, 1e-9);
  }
}

TEST(Search, TheRatioLimitDependsOnEachSourceLength) {
  SearchRequest options = table_options(2, 100);
  options.max_output_ratio = 2;
  EXPECT_EQ(output_limit(4, options), 18);
  EXPECT_EQ(output_limit(60, options), 100);
  SentenceOptions needs;  // 18 tokens and </s>
  needs.prefix = {4, 5, 6};
  needs.required_phrases = {{4, 5, 6, 7, 8}, {4, 5, 6, 7, 8, 9, 4, 5, 6, 7}};
  EXPECT_EQ(output_limit(4, options, needs), 19);
}

TEST(Search, PaddingAndBosAreNeverGenerated) {
  auto table = torch::zeros({1, V, V}, torch::kDouble);
  table.select(2, 0).fill_(50);
  table.select(2, 2).fill_(50);
  TableModel model(table);
  const auto [source, lengths] = table_sentences(1);
  for (const std::int64_t beam : {1, 3}) {
    const auto found = search(model, {source, lengths}, table_options(beam, 5));
    for (const auto& hypothesis : found[0]) {
      for (const auto token : hypothesis.tokens) EXPECT_TRUE(token != 0 && token != 2);
    }
  }
}

TEST(Search, WeightsStayWithTheirHypothesis) {
  torch::manual_seed(5);
  TableModel model(random_table(4));
  const auto [source, lengths] = table_sentences(4);
  for (const std::int64_t beam : {1, 4}) {
    auto options = table_options(beam, 6);
    options.want_weights = true;
    for (const auto& n_best : search(model, {source, lengths}, options)) {
      for (const auto& hypothesis : n_best) {
        ASSERT_EQ(hypothesis.weights.size(), hypothesis.tokens.size() + hypothesis.finished);
        std::int64_t before = 2;  // <s>
        for (std::size_t t = 0; t < hypothesis.weights.size(); ++t) {
          ASSERT_EQ(hypothesis.weights[t].size(), 4U);
          EXPECT_EQ(hypothesis.weights[t][before % 4], 1) << t;
          if (t < hypothesis.tokens.size()) before = hypothesis.tokens[t];
        }
      }
    }
  }
}

TEST(Search, NaNProbabilitiesProduceAnEmptyTranslation) {
  TableModel model(torch::full({1, V, V}, NAN, torch::kDouble));
  const auto [source, lengths] = table_sentences(1);
  EXPECT_EQ(search(model, {source, lengths}, table_options(3, 5))[0].size(), 1U);
}

}  // namespace
}  // namespace regard::search_reference_test
