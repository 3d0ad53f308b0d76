// The search options, alone and combined, compared with an exhaustive search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "decoding/search.h"
#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"

namespace regard::search_options_reference_test {
namespace {

constexpr std::int64_t all_prefixes = 320;  // of at most 3 tokens, each with 5 continuations

// Performs one model step per call.
class CountingModel : public TableModel {
 public:
  using TableModel::TableModel;
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded, bool want_weights = true) override {
    ++steps;
    return TableModel::step(tokens, state, encoded, want_weights);
  }
  int steps = 0;
};

template <typename Value>
Value one_of(Random& random, std::initializer_list<Value> values) {
  return values.begin()[random.below(values.size())];
}

SearchRequest random_options(Random& random, std::int64_t beam, std::int64_t longest) {
  auto options = table_options(beam, longest, one_of(random, {0.0, 0.6, 1.0, 2.0}));
  options.length_penalty = one_of(random, {LengthPenalty::gnmt, LengthPenalty::power});
  options.coverage_beta = one_of(random, {0.0, 0.0, 0.01, 0.2});
  options.min_output_length = one_of<std::int64_t>(random, {0, 0, 1, 2, longest - 1});
  options.repetition_penalty = one_of(random, {1.0, 1.0, 0.8, 1.3, 3.0});
  options.no_repeat_ngram = one_of<std::int64_t>(random, {0, 0, 1, 2, 3});
  return options;
}

// Hypotheses with equal scores may be in any order.
void expect_equal(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& wanted,
                  std::size_t count) {
  std::map<std::vector<std::int32_t>, double> log_p;
  for (const auto& hypothesis : wanted) log_p[hypothesis.tokens] = hypothesis.log_probability;
  ASSERT_GE(found.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_NEAR(found[k].score, wanted[k].score, 1e-9) << k;
    EXPECT_NEAR(found[k].log_probability, log_p.at(found[k].tokens), 1e-9) << k;
    EXPECT_TRUE(found[k].finished);
  }
}

TEST(SearchOptionsReference, AWideBeamFindsAllAllowedTranslationsInOrder) {
  torch::manual_seed(11);
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const auto table = random_table(2, 2);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(2);
    auto options = random_options(random, all_prefixes, 4);
    options.early_stopping = one_of(random, {SearchEnd::full, SearchEnd::ahead, SearchEnd::never});
    const auto found = search(model, {source, lengths}, options);
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto all = Exhaustive(table[b], options).all();
      if (all.empty()) continue;  // all translations are longer than the limit
      ASSERT_EQ(found[b].size(), all.size());
      expect_equal(found[b], all, all.size());
    }
  }
}

TEST(SearchOptionsReference, ExactStoppingFindsTheBest) {
  torch::manual_seed(12);
  Random random(12);
  for (int i = 0; i < 60; ++i) {
    const auto table = random_table(2, 2);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(2);
    auto options = random_options(random, all_prefixes, 4);
    options.early_stopping = SearchEnd::exact;
    options.n_best = static_cast<std::int64_t>(1 + random.below(5));
    const auto found = search(model, {source, lengths}, options);
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto all = Exhaustive(table[b], options).all();
      const auto count = std::min(all.size(), static_cast<std::size_t>(options.n_best));
      expect_equal(found[b], all, count);
    }
  }
}

TEST(SearchOptionsReference, ANarrowBeamIsNeverBetterThanTheBest) {
  torch::manual_seed(13);
  Random random(13);
  for (int i = 0; i < 60; ++i) {
    const auto table = random_table(2, 1);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(2);
    const auto options = random_options(random, static_cast<std::int64_t>(1 + random.below(4)), 4);
    const auto found = search(model, {source, lengths}, options);
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto all = Exhaustive(table[b], options).all();
      if (all.empty() || !found[b][0].finished) continue;
      EXPECT_LE(found[b][0].score, all[0].score + 1e-9);
    }
  }
}

TEST(SearchRequest, ExactStoppingEqualsNeverStoppingInFewerSteps) {
  torch::manual_seed(14);
  Random random(14);
  int steps_exact = 0;
  int steps_never = 0;
  for (int i = 0; i < 200; ++i) {
    CountingModel model(random_table(3, one_of(random, {1.0, 3.0})));
    const auto [source, lengths] = table_sentences(3);
    auto options = random_options(random, static_cast<std::int64_t>(2 + random.below(4)), 9);
    options.n_best =
        static_cast<std::int64_t>(1 + random.below(static_cast<std::uint64_t>(options.beam_size)));
    options.early_stopping = SearchEnd::never;
    const auto never = search(model, {source, lengths}, options);
    steps_never += model.steps;
    model.steps = 0;
    options.early_stopping = SearchEnd::exact;
    const auto exact = search(model, {source, lengths}, options);
    steps_exact += model.steps;
    for (std::size_t b = 0; b < 3; ++b) {
      const auto n_best = static_cast<std::size_t>(options.n_best);
      for (std::size_t k = 0; k < std::min(n_best, never[b].size()); ++k) {
        ASSERT_LT(k, exact[b].size());
        EXPECT_EQ(exact[b][k].tokens, never[b][k].tokens);
        EXPECT_EQ(exact[b][k].score, never[b][k].score);
      }
    }
  }
  EXPECT_LT(steps_exact, steps_never);
}

TEST(SearchRequest, AheadGoesOnWhileAnOpenHypothesisIsBetter) {
  // After <s>, 4 and 5, another word is probable. Two improbable ends come first.
  const std::vector<std::pair<int, int>> probable = {{2, 4}, {4, 5}, {5, 6}, {6, table_end}};
  auto table = torch::zeros({1, table_tokens, table_tokens}, torch::kDouble);
  table.select(2, table_end) = 2;
  for (const auto& [from, to] : probable) table[0][from][to] = 6;
  TableModel model(table);
  const auto [source, lengths] = table_sentences(1);
  auto options = table_options(2, 9);
  options.early_stopping = SearchEnd::full;
  EXPECT_THAT(search(model, {source, lengths}, options)[0][0].tokens, testing::ElementsAre(4));
  options.early_stopping = SearchEnd::ahead;
  EXPECT_THAT(search(model, {source, lengths}, options)[0][0].tokens,
              testing::ElementsAre(4, 5, 6));
}

TEST(SearchRequest, AheadIsNeverWorseThanFullAndNeverBetterThanExact) {
  torch::manual_seed(17);
  Random random(17);
  int better = 0;
  for (int i = 0; i < 200; ++i) {
    TableModel model(random_table(3, one_of(random, {1.0, 3.0})));
    const auto [source, lengths] = table_sentences(3);
    auto options = random_options(random, static_cast<std::int64_t>(2 + random.below(4)), 9);
    const auto found = [&](SearchEnd end) {
      options.early_stopping = end;
      return search(model, {source, lengths}, options);
    };
    const auto full = found(SearchEnd::full);
    const auto ahead = found(SearchEnd::ahead);
    const auto exact = found(SearchEnd::exact);
    for (std::size_t b = 0; b < 3; ++b) {
      if (!full[b][0].finished) continue;
      EXPECT_GE(ahead[b][0].score, full[b][0].score);
      EXPECT_LE(ahead[b][0].score, exact[b][0].score);
      better += ahead[b][0].score > full[b][0].score;
    }
  }
  EXPECT_GT(better, 0);
}

TEST(SearchRequest, GreedySearchAppliesEachOption) {
  torch::manual_seed(15);
  Random random(15);
  for (int i = 0; i < 60; ++i) {
    const auto table = random_table(2, 2);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(2);
    const auto options = random_options(random, 1, 8);
    const auto found = search(model, {source, lengths}, options);
    for (std::int64_t b = 0; b < 2; ++b) {
      const Exhaustive reference(table[b], options);
      Hypothesis wanted;
      while (!wanted.finished && wanted.tokens.size() < 8) {
        const auto log_p = reference.next(wanted.tokens);
        const auto best = std::max_element(log_p.begin(), log_p.end());
        if (!std::isfinite(*best)) break;
        wanted.log_probability += *best;
        wanted.finished = best - log_p.begin() == 3;
        if (!wanted.finished) {
          wanted.tokens.push_back(static_cast<std::int32_t>(best - log_p.begin()));
        }
      }
      EXPECT_EQ(found[b][0].tokens, wanted.tokens);
      EXPECT_EQ(found[b][0].finished, wanted.finished);
      EXPECT_NEAR(found[b][0].log_probability, wanted.log_probability, 1e-9);
      if (wanted.finished) {
        EXPECT_NEAR(found[b][0].score, reference.score(wanted), 1e-9);
      }
    }
  }
}

TEST(SearchRequest, ResultsDoNotDependOnTheBatchWithAllOptions) {
  torch::manual_seed(16);
  Random random(16);
  for (int i = 0; i < 20; ++i) {
    TableModel model(random_table(4, 2));
    const auto [source, lengths] = table_sentences(4);
    auto options = random_options(random, static_cast<std::int64_t>(1 + random.below(4)), 8);
    options.early_stopping = one_of(random, {SearchEnd::full, SearchEnd::ahead, SearchEnd::exact});
    const auto together = search(model, {source, lengths}, options);
    for (std::int64_t b = 0; b < 4; ++b) {
      const auto alone =
          search(model, {source.narrow(0, b, 1), lengths.narrow(0, b, 1)}, options)[0];
      ASSERT_EQ(alone.size(), together[b].size());
      for (std::size_t k = 0; k < alone.size(); ++k) {
        EXPECT_EQ(alone[k].tokens, together[b][k].tokens);
        EXPECT_EQ(alone[k].score, together[b][k].score);
      }
    }
  }
}

// Two words, no repeated token, and at least five tokens: no token is allowed after three.
TEST(SearchRequest, ATranslationIsCutOffIfNoTokenIsAllowed) {
  torch::manual_seed(17);
  TableModel model(random_table(1));
  const auto [source, lengths] = table_sentences(1);
  for (const std::int64_t beam : {1, 3}) {
    auto options = table_options(beam, 9);
    options.no_repeat_ngram = 1;
    options.min_output_length = 5;
    const auto found = search(model, {source, lengths}, options)[0];
    EXPECT_EQ(found[0].tokens.size(), 4U);  // <unk> and the words
    EXPECT_FALSE(found[0].finished);
    EXPECT_TRUE(std::isfinite(found[0].score));
  }
}

TEST(SearchRequest, TheMinimumLengthOverridesTheRatio) {
  auto options = table_options(3, 100);
  options.max_output_ratio = 1;
  options.min_output_length = 40;
  EXPECT_EQ(output_limit(4, options), 41);
}

TEST(SearchRequest, WeightsAreReturnedOnlyOnRequest) {
  torch::manual_seed(18);
  TableModel model(random_table(1));
  const auto [source, lengths] = table_sentences(1);
  for (const std::int64_t beam : {1, 3}) {
    auto options = table_options(beam, 5);
    options.coverage_beta = 0.2;
    const auto found = search(model, {source, lengths}, options)[0];
    for (const auto& hypothesis : found) EXPECT_TRUE(hypothesis.weights.empty());
  }
}

}  // namespace
}  // namespace regard::search_options_reference_test
