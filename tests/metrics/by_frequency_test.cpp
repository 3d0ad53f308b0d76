#include "metrics/by_frequency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard {
namespace {

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
}  // namespace regard
