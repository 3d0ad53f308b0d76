#include "translation/score_translations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard::score_translations_test {
namespace {

TEST(WordScores, AddsPiecesToWordsAndKeepsTheEndToken) {
  Hypothesis hypothesis;
  hypothesis.tokens = {4, 5, 6};
  hypothesis.token_log_p = {-1, -0.5, -0.25, -2};
  hypothesis.finished = true;
  const auto scores = word_scores(hypothesis, {"▁watch", "ing", "▁.", "</s>"}, TokenizerKind::bpe);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(to_text(scores[0]), "watching=-1.5000");
  EXPECT_EQ(to_text(scores[1]), ".=-0.2500");
  EXPECT_EQ(to_text(scores[2]), "</s>=-2.0000");
}

TEST(WordScores, UnfinishedHypothesisHasNoEndToken) {
  Hypothesis hypothesis;
  hypothesis.tokens = {4, 5};
  hypothesis.token_log_p = {-1, -0.5};
  const auto scores = word_scores(hypothesis, {"le", "chat"}, TokenizerKind::word);
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(to_json(scores).dump(),
            R"([{"word":"le","log_probability":-1.0},{"word":"chat","log_probability":-0.5}])");
}

}  // namespace
}  // namespace regard::score_translations_test
