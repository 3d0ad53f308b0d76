#include "metrics/ter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "base/version.h"

namespace regard::ter_test {
namespace {

// Computed by hand: "b" for "x", "d" deleted, "e" inserted; 3 edits for 4 words.
TEST(Ter, CountsSubstitutionsDeletionsAndInsertions) {
  EXPECT_DOUBLE_EQ(corpus_score(Ter(), {"a b c d"}, {{"a x c"}}), 100. * 2 / 3);
  EXPECT_DOUBLE_EQ(corpus_score(Ter(), {"a c"}, {{"a x c e"}}), 100. * 2 / 4);
}

TEST(Ter, AShiftedPhraseIsOneEdit) {
  EXPECT_DOUBLE_EQ(corpus_score(Ter(), {"on the mat sat a cat"}, {{"a cat sat on the mat"}}),
                   100. * 2 / 6);
  EXPECT_DOUBLE_EQ(corpus_score(Ter(), {"d e f a b c"}, {{"a b c d e f"}}), 100. * 1 / 6);
}

TEST(Ter, DividesTheFewestEditsByTheMeanLength) {
  EXPECT_DOUBLE_EQ(corpus_score(Ter(), {"a b c"}, {{"x y"}, {"a b c d"}}), 100. * 1 / 3);
}

TEST(Ter, ReferencesWithoutWords) {
  EXPECT_EQ(corpus_score(Ter(), {"a b"}, {{""}}), 100);
  EXPECT_EQ(corpus_score(Ter(), {""}, {{""}}), 0);
  EXPECT_EQ(corpus_score(Ter(), {}, {{}}), 0);
}

// A full table would have 10^10 cells.
TEST(Ter, LongLinesUseABand) {
  std::string hypothesis;
  std::string reference;
  for (int i = 0; i < 100'000; ++i) {
    hypothesis += "h" + std::to_string(i) + " ";
    reference += "r" + std::to_string(i) + " ";
  }
  EXPECT_EQ(corpus_score(Ter(), {hypothesis}, {{reference}}), 100);
}

TEST(Ter, DifferentLineCountsAreAnError) {
  EXPECT_THROW(corpus_score(Ter(), {"a", "b"}, {{"a"}}), InputError);
}

TEST(Ter, SignatureHasTheVersionOfRegard) {
  EXPECT_EQ(Ter().signature(1),
            std::string("nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:regard-") +
                version());
}

// Computes the full table.
int full_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = static_cast<int>(i + j);
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1),
                             cost[i - 1][j] + 1, cost[i][j - 1] + 1});
    }
  }
  return cost[a.size()][b.size()];
}

std::u32string random_words(Random& random, std::size_t max_length) {
  std::u32string words(random.below(max_length + 1), U' ');
  for (auto& word : words) word = static_cast<char32_t>(random.below(6));
  return words;
}

// Applies the edits to `words`.
std::u32string apply_edits(const std::u32string& words, const std::u32string& reference,
                           const std::vector<Edit>& edits) {
  std::u32string result;
  std::size_t next = 0;
  for (const Edit edit : edits) {
    if (edit == Edit::keep) result += words[next];
    if (edit == Edit::substitute || edit == Edit::insert) result += reference[result.size()];
    if (edit != Edit::insert) ++next;
  }
  EXPECT_EQ(next, words.size());
  return result;
}

TEST(BandedEditDistance, EqualsTheFullTableIfTheBandCoversIt) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto reference = random_words(random, 20);
    BandedEditDistance distance(reference);
    for (int again = 0; again < 5; ++again) {  // reuses rows of earlier calls
      const auto words = random_words(random, 20);
      const int edits = distance(words);
      EXPECT_EQ(edits, full_distance(words, reference));
      const auto path = distance.path();
      EXPECT_EQ(apply_edits(words, reference, path), reference);
      EXPECT_EQ(std::ranges::count_if(path, [](Edit edit) { return edit != Edit::keep; }), edits);
    }
  }
}

TEST(BandedEditDistance, BandsOverlapForAnyRatioOfLengths) {
  const std::u32string reference(5000, U'a');
  BandedEditDistance distance(reference);
  EXPECT_EQ(distance(U"aa"), 4998);
  EXPECT_EQ(distance(U""), 5000);
  EXPECT_EQ(distance(std::u32string(20'000, U'a')), 15'000);
}

}  // namespace
}  // namespace regard::ter_test
