#include "metrics/pairwise_scores.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace regard::pairwise_scores_test {
namespace {

// Equal texts, texts of one word, an empty one, repeated n-grams, punctuation and other scripts.
const std::vector<std::string> texts = {"the cat sees the old dog .",
                                        "the cat sees an old dog .",
                                        "the cat sees the old dog .",
                                        "",
                                        "cat",
                                        "the the the the the the",
                                        "a dog, sees; (the) cat!",
                                        "Le chat voit où était l'oiseau à 3,5 km.",
                                        "ü"};

TEST(PairwiseScores, BleuEqualsTheMetric) {
  const auto scores = pairwise_bleu(texts);
  const Bleu effective_bleu({.effective_order = true});
  ASSERT_EQ(scores.size(), texts.size() * texts.size());
  for (std::size_t h = 0; h < texts.size(); ++h) {
    for (std::size_t r = 0; r < texts.size(); ++r) {
      EXPECT_EQ(scores[h * texts.size() + r],
                corpus_score(effective_bleu, {texts[h]}, {{texts[r]}}))
          << texts[h] << " / " << texts[r];
    }
  }
}

TEST(PairwiseScores, ChrfEqualsTheMetric) {
  const auto scores = pairwise_chrf(texts);
  ASSERT_EQ(scores.size(), texts.size() * texts.size());
  for (std::size_t h = 0; h < texts.size(); ++h) {
    for (std::size_t r = 0; r < texts.size(); ++r) {
      EXPECT_EQ(scores[h * texts.size() + r], corpus_score(Chrf(), {texts[h]}, {{texts[r]}}))
          << texts[h] << " / " << texts[r];
    }
  }
}

TEST(PairwiseScores, NoTextsHaveNoScores) {
  EXPECT_TRUE(pairwise_bleu({}).empty());
  EXPECT_TRUE(pairwise_chrf({}).empty());
}

}  // namespace
}  // namespace regard::pairwise_scores_test
