#include "decoding/score_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "tests/decoding/table_model.h"

namespace regard::score_targets_test {
namespace {

using testing::ElementsAre;

constexpr std::int64_t V = 6;  // <pad> <unk> <s> </s>, and two words, 4 and 5

class ScoreTargets : public testing::Test {
 protected:
  ScoreTargets() {
    torch::manual_seed(1);
    log_p = torch::randn({2, V, V}, torch::kDouble).log_softmax(-1);
    model = std::make_shared<TableModel>(log_p);
    model->eval();
  }
  double p(int sentence, int from, int to) const {
    return log_p[sentence][from][to].item<double>();
  }

  torch::Tensor log_p;
  std::shared_ptr<TableModel> model;
  torch::Tensor source = torch::tensor({{0, 4, 5, 3}, {1, 5, 3, 0}});
  torch::Tensor lengths = torch::tensor({4, 3});
};

TEST_F(ScoreTargets, ReturnsTheProbabilityOfTheTargetAndTheEnd) {
  const auto found = score_targets(*model, {source, lengths},
                                   {torch::tensor({{2, 4, 5, 3}, {2, 5, 3, 0}})}, false);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].tokens, ElementsAre(4, 5));
  EXPECT_NEAR(found[0].log_probability, p(0, 2, 4) + p(0, 4, 5) + p(0, 5, 3), 1e-6);
  EXPECT_TRUE(found[0].finished);
  EXPECT_TRUE(found[0].weights.empty());
}

TEST_F(ScoreTargets, IgnoresPadding) {
  const auto found =
      score_targets(*model, {source, lengths}, {torch::tensor({{2, 4, 5, 3}, {2, 5, 3, 0}})}, true);
  EXPECT_THAT(found[1].tokens, ElementsAre(5));
  EXPECT_NEAR(found[1].log_probability, p(1, 2, 5) + p(1, 5, 3), 1e-6);
  EXPECT_EQ(found[1].weights.size(), 2u);
}

TEST_F(ScoreTargets, WeightsExcludePadding) {
  const auto found =
      score_targets(*model, {source, lengths}, {torch::tensor({{2, 4, 5, 3}, {2, 5, 3, 0}})}, true);
  EXPECT_THAT(found[0].weights, ElementsAre(ElementsAre(0, 0, 1, 0), ElementsAre(1, 0, 0, 0),
                                            ElementsAre(0, 1, 0, 0)));
  EXPECT_EQ(found[1].weights[0].size(), 3u);
}

TEST_F(ScoreTargets, SourcesCanHaveSeveralTargetsOrNone) {
  const GivenTargets targets = {torch::tensor({{2, 5, 3, 0}, {2, 4, 5, 3}, {2, 5, 3, 0}}),
                                torch::tensor({1, 1, 0})};
  const auto found = score_targets(*model, {source, lengths}, targets, true);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[0].log_probability, p(1, 2, 5) + p(1, 5, 3), 1e-6);
  EXPECT_NEAR(found[1].log_probability, p(1, 2, 4) + p(1, 4, 5) + p(1, 5, 3), 1e-6);
  EXPECT_NEAR(found[2].log_probability, p(0, 2, 5) + p(0, 5, 3), 1e-6);
  EXPECT_EQ(found[1].weights[0].size(), 3u);
  EXPECT_EQ(found[2].weights[0].size(), 4u);
}

TEST_F(ScoreTargets, AgreesWithASearch) {
  SearchRequest options;
  options.beam_size = 1;
  options.suppressed_tokens = {};
  const auto searched = search(*model, {source, lengths}, options);
  const auto& best = searched[0][0];
  ASSERT_TRUE(best.finished) << "this table does not serve: its greedy path has no end";
  std::vector<std::int64_t> target{2};
  target.insert(target.end(), best.tokens.begin(), best.tokens.end());
  target.push_back(3);
  const auto found = score_targets(*model, {source.slice(0, 0, 1), lengths.slice(0, 0, 1)},
                                   {torch::tensor(target).unsqueeze(0)}, false);
  EXPECT_EQ(found[0].tokens, best.tokens);
  EXPECT_NEAR(found[0].log_probability, best.log_probability, 1e-6);
}

}  // namespace
}  // namespace regard::score_targets_test
