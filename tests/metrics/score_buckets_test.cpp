#include "metrics/score_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"

namespace regard::score_buckets_test {
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
  EXPECT_DOUBLE_EQ(buckets[0].scores[0], corpus_score(bleu_, lines, wanted));
  EXPECT_DOUBLE_EQ(buckets[0].scores[1], corpus_score(chrf_, lines, wanted));
  EXPECT_DOUBLE_EQ(buckets[0].scores[2], corpus_score(ter_, lines, wanted));
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
      testing::ThrowsMessage<ConfigError>(
          "--by-length: found 5 after 5, expected ascending numbers"));
}

TEST_F(ByLength, DifferentLineCountsNameBothCounts) {
  EXPECT_THAT([&] { score_by_length({"a"}, counted_, {5}); },
              testing::ThrowsMessage<InputError>(
                  "found 1 source line, but 5 hypotheses: give one for each"));
}

TEST_F(ByLength, LabelsAreBucketsInOrderOfAppearance) {
  const auto buckets = score_by_label({"b", "a", "b", "a", "b"}, counted_);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].label, "b");
  EXPECT_EQ(buckets[0].sentences, 3u);
  EXPECT_EQ(buckets[0].scores, scored({2})[0].scores);  // the same sentences
  EXPECT_EQ(buckets[1].label, "a");
  EXPECT_EQ(buckets[1].sentences, 2u);
  EXPECT_THAT(
      [&] { score_by_label({"a"}, counted_); },
      testing::ThrowsMessage<InputError>("found 1 label, but 5 hypotheses: give one for each"));
}

WordFrequencies seen(const std::vector<std::pair<std::string, int>>& words) {
  WordFrequencies frequencies{BleuOptions{}};
  for (const auto& [word, times] : words) {
    for (int i = 0; i < times; ++i) frequencies.add(word);
  }
  return frequencies;
}

TEST(ByFrequency, BucketsEqualThoseOfCompareMt) {
  const auto buckets = score_by_frequency({}, {}, seen({}));
  std::vector<std::uint64_t> rarest;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    rarest.push_back(buckets[b].rarest);
    if (b == 0) continue;
    EXPECT_EQ(buckets[b - 1].commonest, buckets[b].rarest - 1);
  }
  EXPECT_THAT(rarest, testing::ElementsAre(0, 1, 2, 5, 10, 100, 1000));
  EXPECT_EQ(buckets.back().commonest, std::nullopt);
}

TEST(ByFrequency, CountsEachWordInTheBucketOfItsFrequency) {
  const auto frequencies = seen({{"one", 1},
                                 {"two", 2},
                                 {"four", 4},
                                 {"five", 5},
                                 {"ten", 10},
                                 {"hundred", 100},
                                 {"thousand", 1000}});
  const auto buckets =
      score_by_frequency({"none one two four five ten hundred thousand"},
                         {"none one two four five ten hundred thousand"}, frequencies);
  std::vector<std::int64_t> words;
  for (const auto& bucket : buckets) {
    words.push_back(bucket.reference);
    EXPECT_EQ(bucket.f1(), 1);
  }
  EXPECT_THAT(words, testing::ElementsAre(1, 1, 2, 1, 1, 1, 1));
}

// Computed by hand: the unseen words of the system are x x z, those of the reference x x x y; two
// match.
TEST(ByFrequency, MatchesAreClippedWithinTheSentence) {
  const auto buckets =
      score_by_frequency({"x x z a", "y"}, {"x x x a", "y"}, seen({{"a", 3}, {"y", 1}}));
  EXPECT_EQ(buckets[0].matches, 2);
  EXPECT_DOUBLE_EQ(buckets[0].precision(), 2. / 3);
  EXPECT_DOUBLE_EQ(buckets[0].recall(), 2. / 3);
  EXPECT_EQ(buckets[1].matches, 1);
  EXPECT_EQ(buckets[2].f1(), 1);
  EXPECT_EQ(buckets[3].f1(), 0) << "no word";
}

TEST(ByFrequency, WordsAreTokensOfBleu) {
  BleuOptions lowercase;
  lowercase.lowercase = true;
  WordFrequencies frequencies(lowercase);
  frequencies.add("Yes, sir.");
  EXPECT_EQ(frequencies.count(U"yes"), 1u);
  EXPECT_EQ(frequencies.count(U","), 1u);
  EXPECT_EQ(frequencies.count(U"Yes"), 0u);
}

TEST(ByFrequency, DifferentLineCountsAreAnError) {
  EXPECT_THROW(score_by_frequency({"a"}, {"a", "b"}, seen({})), InputError);
}

}  // namespace
}  // namespace regard::score_buckets_test
