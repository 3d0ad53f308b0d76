#include "metrics/by_length.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard {
namespace {

const std::vector<std::string> sources{"1 2", "1 2 3", "", "1 2 3 4 5", "1 2"};
const std::vector<std::string> hypotheses{"a b c d", "x y z w", "a b c e", "k l m n", "b c d e"};
const References references{{"a b c d", "x y z v", "a b c d", "p q r s", "b c d e"}};

TEST(ByLength, AnEdgeBelongsToTheBucketThatEndsThere) {
  const auto buckets = score_by_length(sources, hypotheses, references, {2, 4});
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].shortest, 0u);
  EXPECT_EQ(buckets[0].longest, 2u);
  EXPECT_EQ(buckets[0].sentences, 3u);
  EXPECT_EQ(buckets[1].shortest, 3u);
  EXPECT_EQ(buckets[1].longest, 4u);
  EXPECT_EQ(buckets[1].sentences, 1u);
  EXPECT_EQ(buckets[2].shortest, 5u);
  EXPECT_EQ(buckets[2].longest, std::nullopt);
  EXPECT_EQ(buckets[2].sentences, 1u);
}

TEST(ByLength, ABucketScoresAsACorpusOfItsSentences) {
  const auto buckets = score_by_length(sources, hypotheses, references, {2});
  const std::vector<std::string> lines{"a b c d", "a b c e", "b c d e"};
  const References wanted{{"a b c d", "a b c d", "b c d e"}};
  EXPECT_DOUBLE_EQ(buckets[0].bleu.score, corpus_bleu(lines, wanted).score);
  EXPECT_DOUBLE_EQ(buckets[0].chrf, corpus_chrf(lines, wanted));
  EXPECT_GT(buckets[0].bleu.score, 0);
}

TEST(ByLength, EmptyBucketsStay) {
  const auto buckets = score_by_length(sources, hypotheses, references, {10, 20});
  EXPECT_EQ(buckets[0].sentences, 5u);
  EXPECT_EQ(buckets[1].sentences, 0u);
  EXPECT_EQ(buckets[1].bleu.score, 0);
  EXPECT_EQ(buckets[1].chrf, 0);
}

TEST(ByLength, EdgesThatDoNotAscendAreAnError) {
  EXPECT_THAT(
      [] {
        score_by_length(sources, hypotheses, references, {5, 5});
      },
      testing::ThrowsMessage<ConfigError>("length edges must ascend, but 5 follows 5"));
}

TEST(ByLength, DifferentLineCountsNameBothCounts) {
  EXPECT_THAT([] { score_by_length({"a"}, hypotheses, references, {5}); },
              testing::ThrowsMessage<InputError>(
                  "there are 1 source lines, but 5 hypotheses: give one for each"));
}

}  // namespace
}  // namespace regard
