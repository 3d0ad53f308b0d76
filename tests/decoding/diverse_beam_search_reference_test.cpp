#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "decoding/search.h"
#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"

namespace regard::diverse_beam_search_reference_test {
namespace {

using Tokens = std::vector<std::int32_t>;

SearchRequest grouped(std::int64_t groups, std::int64_t in_group, double diversity) {
  auto options = table_options(groups * in_group, 8);
  options.early_stopping = SearchEnd::full;
  options.beam_groups = groups;
  options.diversity = diversity;
  return options;
}

// One group of the reference implementation.
struct Group {
  std::vector<Hypothesis> open = {Hypothesis{}};
  std::vector<Hypothesis> finished;
  bool ended = false;

  // Continues with the best candidates and counts the selected tokens.
  void advance(const Exhaustive& table, std::size_t W, double diversity,
               std::map<std::int32_t, int>& said) {
    std::vector<std::pair<double, Hypothesis>> ways;  // </s> as the token 3, for now
    for (const auto& hypothesis : open) {
      const auto log_p = table.next(hypothesis.tokens);
      for (std::int32_t y = 0; y < table_tokens; ++y) {
        if (!std::isfinite(log_p[y])) continue;
        auto longer = hypothesis;
        longer.log_probability += log_p[y];
        longer.tokens.push_back(y);
        ways.emplace_back(longer.log_probability - diversity * said[y], longer);
      }
    }
    std::sort(ways.begin(), ways.end(), [](auto& a, auto& b) { return a.first > b.first; });
    open.clear();
    for (std::size_t rank = 0; rank < ways.size() && open.size() < W; ++rank) {
      auto& hypothesis = ways[rank].second;
      if (hypothesis.tokens.back() != table_end) {
        open.push_back(hypothesis);
      } else if (rank < W && finished.size() < W) {
        hypothesis.tokens.pop_back();
        hypothesis.score = table.score(hypothesis);
        finished.push_back(hypothesis);
      }
    }
    ended = finished.size() >= W || open.empty() || open[0].tokens.size() >= 8;
    if (ended) return;
    for (const auto& hypothesis : open) ++said[hypothesis.tokens.back()];
  }
};

TEST(DiverseBeamSearchReference, GroupsSelectInTurnWithPenalties) {
  torch::manual_seed(21);
  for (int i = 0; i < 40; ++i) {
    const auto table = random_table(1, 2);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(1);
    const auto options = grouped(2 + i % 2, 1 + i % 3, 0.4 * (1 + i % 4));
    const auto W = static_cast<std::size_t>(options.beam_size / options.beam_groups);
    std::vector<Group> groups(static_cast<std::size_t>(options.beam_groups));
    for (int t = 0; t < 8; ++t) {
      std::map<std::int32_t, int> said;
      for (auto& group : groups) {
        if (!group.ended) group.advance({table[0], options}, W, options.diversity, said);
      }
    }
    std::map<Tokens, double> wanted;
    for (const auto& group : groups) {
      for (const auto& hypothesis : group.finished) wanted[hypothesis.tokens] = hypothesis.score;
    }
    const auto found = search(model, {source, lengths}, options)[0];
    std::map<Tokens, double> got;
    for (const auto& hypothesis : found) {
      if (hypothesis.finished) got[hypothesis.tokens] = hypothesis.score;
    }
    ASSERT_EQ(got.size(), wanted.size());
    for (const auto& [tokens, score] : wanted) EXPECT_NEAR(got.at(tokens), score, 1e-9);
  }
}

TEST(DiverseBeamSearch, WithoutDiversityEachGroupIsAPlainBeam) {
  torch::manual_seed(22);
  TableModel model(random_table(4, 2));
  const auto [source, lengths] = table_sentences(4);
  const auto plain = search(model, {source, lengths}, table_options(3, 8));
  const auto found = search(model, {source, lengths}, grouped(2, 3, 0));
  for (std::size_t b = 0; b < 4; ++b) {
    ASSERT_EQ(found[b].size(), plain[b].size());
    for (std::size_t k = 0; k < plain[b].size(); ++k) {
      EXPECT_EQ(found[b][k].tokens, plain[b][k].tokens);
      EXPECT_EQ(found[b][k].score, plain[b][k].score);
    }
  }
}

TEST(DiverseBeamSearch, HighDiversityMakesAllFirstTokensDiffer) {
  torch::manual_seed(23);
  const auto table = random_table(10);
  table.select(2, table_end).sub_(20);  // no hypothesis ends early
  TableModel model(table);
  const auto [source, lengths] = table_sentences(10);
  for (const auto& n_best : search(model, {source, lengths}, grouped(4, 1, 100))) {
    std::set<std::int32_t> first;
    for (const auto& hypothesis : n_best) first.insert(hypothesis.tokens.at(0));
    EXPECT_EQ(first.size(), 4U);
  }
}

TEST(DiverseBeamSearch, ResultsDoNotDependOnTheBatch) {
  torch::manual_seed(24);
  TableModel model(random_table(5, 2));
  const auto [source, lengths] = table_sentences(5);
  const auto options = grouped(2, 2, 0.7);
  const auto together = search(model, {source, lengths}, options);
  for (std::int64_t b = 0; b < 5; ++b) {
    const auto alone = search(model, {source.narrow(0, b, 1), lengths.narrow(0, b, 1)}, options)[0];
    ASSERT_EQ(alone.size(), together[b].size());
    for (std::size_t k = 0; k < alone.size(); ++k) {
      EXPECT_EQ(alone[k].tokens, together[b][k].tokens);
    }
  }
}

}  // namespace
}  // namespace regard::diverse_beam_search_reference_test
