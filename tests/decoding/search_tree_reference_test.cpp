#include "decoding/hypothesis.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <map>

#include "decoding/search.h"
#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"

namespace regard::search_tree_reference_test {
namespace {

using Tokens = std::vector<std::int32_t>;
constexpr std::int64_t sentences = 6;
constexpr std::int64_t W = 3;

// Returns the tokens from the root to a node.
Tokens path_to(const SearchTree& tree, std::int64_t node) {
  Tokens tokens;
  for (auto at = node; at >= 0; at = tree.nodes[static_cast<std::size_t>(at)].previous)
    tokens.insert(tokens.begin(), static_cast<std::int32_t>(tree.nodes[at].token));
  return tokens;
}

class SearchTrees : public testing::TestWithParam<std::int64_t> {
 protected:
  SearchTrees() {
    options_.beam_groups = GetParam();
    options_.beam_size = W * GetParam();
    options_.want_tree = true;
  }
  std::vector<std::vector<Hypothesis>> found() {
    TableModel model(table_.log_softmax(-1));
    const auto input = table_sentences(sentences);
    return search(model, {input.source, input.lengths}, options_);
  }

  torch::Tensor table_ = (torch::manual_seed(5), random_table(sentences, 2));
  SearchRequest options_ = table_options(W, 8);
};

TEST_P(SearchTrees, NodesHaveProbabilitiesAndEndsHaveScores) {
  const auto all = found();
  for (std::int64_t k = 0; k < sentences; ++k) {
    const Exhaustive plain(table_[k], options_);
    const auto& tree = *all[static_cast<std::size_t>(k)].front().tree;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      auto tokens = path_to(tree, static_cast<std::int64_t>(i));
      Hypothesis hypothesis;
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        const Tokens history(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t));
        hypothesis.log_probability += plain.next(history)[static_cast<std::size_t>(tokens[t])];
      }
      EXPECT_NEAR(tree.nodes[i].log_probability, hypothesis.log_probability, 1e-9);
      const bool ends = tokens.back() == table_end;
      ASSERT_EQ(tree.nodes[i].score.has_value(), ends);
      if (!ends) continue;
      tokens.pop_back();
      hypothesis.tokens = tokens;
      EXPECT_NEAR(*tree.nodes[i].score, plain.score(hypothesis), 1e-9);
    }
  }
}

TEST_P(SearchTrees, ContainsAllHypothesesAndAtMostABeamPerStep) {
  for (const auto& hypotheses : found()) {
    const auto& tree = *hypotheses.front().tree;
    for (const auto& hypothesis : hypotheses) {
      auto tokens = hypothesis.tokens;
      if (hypothesis.finished) tokens.push_back(table_end);
      bool is_there = false;
      for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        is_there = is_there || path_to(tree, static_cast<std::int64_t>(i)) == tokens;
      EXPECT_TRUE(is_there);
    }
    std::map<std::pair<std::size_t, std::size_t>, int> open;  // by group and length
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const auto& node = tree.nodes[i];
      EXPECT_LT(node.group, static_cast<std::size_t>(GetParam()));
      if (!node.score) ++open[{node.group, path_to(tree, static_cast<std::int64_t>(i)).size()}];
    }
    for (const auto& [where, count] : open) EXPECT_LE(count, W);
  }
}

TEST_P(SearchTrees, DoesNotChangeTheResults) {
  const auto with = found();
  options_.want_tree = false;
  const auto without = found();
  for (std::size_t k = 0; k < with.size(); ++k) {
    ASSERT_EQ(with[k].size(), without[k].size());
    EXPECT_EQ(without[k].front().tree, nullptr);
    for (std::size_t n = 0; n < with[k].size(); ++n) {
      EXPECT_EQ(with[k][n].tokens, without[k][n].tokens);
      EXPECT_EQ(with[k][n].score, without[k][n].score);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, SearchTrees, testing::Values(1, 2));

}  // namespace
}  // namespace regard::search_tree_reference_test
