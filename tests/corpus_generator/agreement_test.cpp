#include "corpus_generator/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace regard::corpus::agreement_test {
namespace {

TEST(Agreement, OnlyTheNumberOfTheVerbIsWrong) {
  for (const auto& pair : agreement_pairs(30, 1)) {
    const auto& right = pair.sentence.fr;
    const auto where = line(right) + " / " + line(pair.wrong);
    ASSERT_EQ(right.size(), pair.wrong.size()) << where;
    std::size_t differences = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (right[i] == pair.wrong[i]) continue;
      ++differences;
      const bool is_plural = right[i] == "ont";
      EXPECT_EQ(right[i], is_plural ? "ont" : "a") << where;
      EXPECT_EQ(pair.wrong[i], is_plural ? "a" : "ont") << where;
      EXPECT_EQ(right.front(), is_plural ? "Les" : right.front()) << where;
      EXPECT_EQ(right.front() == "Les", is_plural) << where;
    }
    EXPECT_EQ(differences, 1U) << where;
  }
}

TEST(Agreement, EveryLengthHasPairsOfBothNumbersWithAndWithoutAttraction) {
  std::map<std::size_t, std::map<std::pair<bool, bool>, int>> found;
  for (const auto& pair : agreement_pairs(60, 2)) {
    const auto& en = pair.sentence.en;
    const auto that = std::ranges::find(en, "that") - en.begin();
    EXPECT_EQ(that == static_cast<std::ptrdiff_t>(en.size()), pair.words == 0) << line(en);
    // "The dogs … slept ."
    EXPECT_EQ(en.size(), pair.words + 4) << line(en);
    ++found[pair.words][{pair.sentence.fr.front() == "Les", pair.is_attracted}];
  }
  ASSERT_EQ(found.size(), std::size(agreement_distances));
  for (const auto& [words, counts] : found) EXPECT_EQ(counts.size(), words == 0 ? 2U : 4U) << words;
}

TEST(Agreement, TheSameSeedHasTheSamePairs) {
  const auto text = [](std::uint64_t seed) {
    std::string all;
    for (const auto& pair : agreement_pairs(5, seed)) all += line(pair.sentence.en) + "\n";
    return all;
  };
  EXPECT_EQ(text(3), text(3));
  EXPECT_NE(text(3), text(4));
}

}  // namespace
}  // namespace regard::corpus::agreement_test
