#include "metrics/by_length.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"

namespace regard {
namespace {

const std::vector<std::string> sources{"1 2", "1 2 3", "", "1 2 3 4 5", "1 2"};
const std::vector<std::string> hypotheses{"a b c d", "x y z w", "a b c e", "k l m n", "b c d e"};
const References references{{"a b c d", "x y z v", "a b c d", "p q r s", "b c d e"}};

// The counts of BLEU, chrF2++ and TER of the lines above.
class ByLength : public testing::Test {
 protected:
  std::vector<LengthBucket> scored(const std::vector<std::size_t>& edges) const {
    return score_by_length(sources, counted_, edges);
  }

  Bleu bleu_;
  Chrf chrf_{{.word_order = 2}};
  Ter ter_;
  SentenceCounts bleu_counts_ = bleu_.count(hypotheses, references);
  SentenceCounts chrf_counts_ = chrf_.count(hypotheses, references);
  SentenceCounts ter_counts_ = ter_.count(hypotheses, references);
  std::vector<CountedMetric> counted_ = {
      {&bleu_, &bleu_counts_}, {&chrf_, &chrf_counts_}, {&ter_, &ter_counts_}};
};

TEST_F(ByLength, AnEdgeBelongsToTheLowerBucket) {
  const auto buckets = scored({2, 4});
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

TEST_F(ByLength, ABucketIsScoredAsACorpus) {
  const auto buckets = scored({2});
  const std::vector<std::string> lines{"a b c d", "a b c e", "b c d e"};
  const References wanted{{"a b c d", "a b c d", "b c d e"}};
  ASSERT_EQ(buckets[0].scores.size(), 3u);
  EXPECT_DOUBLE_EQ(buckets[0].scores[0], corpus_bleu(lines, wanted).score);
  EXPECT_DOUBLE_EQ(buckets[0].scores[1], corpus_chrf(lines, wanted, {.word_order = 2}));
  EXPECT_DOUBLE_EQ(buckets[0].scores[2], corpus_ter(lines, wanted));
  EXPECT_GT(buckets[0].scores[0], 0);
}

TEST_F(ByLength, KeepsEmptyBuckets) {
  const auto buckets = scored({10, 20});
  EXPECT_EQ(buckets[0].sentences, 5u);
  EXPECT_EQ(buckets[1].sentences, 0u);
  EXPECT_THAT(buckets[1].scores, testing::ElementsAre(0, 0, 0));
}

TEST_F(ByLength, EdgesThatDoNotAscendAreAnError) {
  EXPECT_THAT(
      [&] {
        scored({5, 5});
      },
      testing::ThrowsMessage<ConfigError>("length edges must ascend, but 5 follows 5"));
}

TEST_F(ByLength, DifferentLineCountsNameBothCounts) {
  EXPECT_THAT([&] { score_by_length({"a"}, counted_, {5}); },
              testing::ThrowsMessage<InputError>(
                  "found 1 source line, but 5 hypotheses: give one for each"));
}

}  // namespace
}  // namespace regard
