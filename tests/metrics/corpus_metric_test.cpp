#include "metrics/corpus_metric.h"

#include <gtest/gtest.h>

#include "text/unicode.h"

namespace regard::corpus_metric_test {
namespace {

std::string shown(const NgramCounts& counts) {
  std::string text;
  for (const CountedNgram& entry : counts) {
    text += encode_utf8(entry.ngram) + ":" + std::to_string(entry.count) + " ";
  }
  return text;
}

TEST(Ngrams, CountsEveryOrderUpToTheLengthOfTheLine) {
  const auto orders = count_ngrams(U"abab", 5);
  ASSERT_EQ(orders.size(), 5u);
  EXPECT_EQ(shown(orders[0]), "a:2 b:2 ");
  EXPECT_EQ(shown(orders[1]), "ab:2 ba:1 ");
  EXPECT_EQ(shown(orders[2]), "aba:1 bab:1 ");
  EXPECT_EQ(shown(orders[3]), "abab:1 ");
  EXPECT_EQ(shown(orders[4]), "");
}

TEST(Ngrams, MatchesAreClippedToTheSmallerCount) {
  const auto a = count_ngrams(U"aaabd", 1);
  const auto b = count_ngrams(U"aabbc", 1);
  EXPECT_EQ(clipped_matches(a[0], b[0]), 3);
  EXPECT_EQ(total_count(a[0]), 5);
}

TEST(Ngrams, LargerCountsKeepAllNgrams) {
  const auto a = count_ngrams(U"aaabd", 1);
  const auto b = count_ngrams(U"aabbc", 1);
  EXPECT_EQ(shown(larger_counts(a[0], b[0])), "a:3 b:2 c:1 d:1 ");
}

TEST(Ngrams, EqualWordsHaveEqualIdsAcrossLines) {
  WordIds word_ids;
  const auto first = word_ids.ids({U"one", U"two", U"one"});
  const auto second = word_ids.ids({U"two", U"three"});
  EXPECT_EQ(first[0], first[2]);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(second[0], first[1]);
  EXPECT_NE(second[1], first[0]);
}

}  // namespace
}  // namespace regard::corpus_metric_test
