#include "metrics/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.h"

namespace regard::alignment_test {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;

TEST(AlignmentError, LinksAreSortedAndDistinct) {
  EXPECT_THAT(parse_alignment(" 10-2  0-1\t0-0 0-1 \r", "a", 1).sure,
              testing::ElementsAre(AlignmentLink{0, 0}, AlignmentLink{0, 1}, AlignmentLink{10, 2}));
}

TEST(AlignmentError, AQuestionMarkOrAPIsAPossibleLink) {
  const auto gold = parse_alignment("1?1 0-0 2p1 0?0", "a", 1);
  EXPECT_THAT(gold.sure, testing::ElementsAre(AlignmentLink{0, 0}));
  EXPECT_THAT(gold.possible,
              testing::ElementsAre(AlignmentLink{0, 0}, AlignmentLink{1, 1}, AlignmentLink{2, 1}));
}

TEST(AlignmentError, AMalformedLinkIsAnErrorWithItsLine) {
  for (std::string word :
       {"0", "0-", "-0", "0-1-2", "0--1", "a-1", "0?", "0x1", "0?-1", "0-99999999999"}) {
    SCOPED_TRACE(word);
    EXPECT_THAT(
        [&] { parse_alignment("0-0 " + word, "gold.align", 7); },
        testing::ThrowsMessage<InputError>(
            "gold.align:7: found '" + word +
            "', expected an alignment link source-target, both counted from 0, as in 0-0, or 0?0 "
            "for a possible link"));
  }
}

TEST(AlignmentError, AnEmptyLineIsASentenceWithoutLinks) {
  EXPECT_TRUE(parse_alignment(" \t\u00A0", "gold.align", 1).possible.empty());
}

GoldAlignment all_sure(const Alignment& links) {
  return {links, links};
}

// 2 of 3 proposed links are among the 5 sure ones: 1 − 2·2 / (3 + 5).
TEST(AlignmentError, ScoresOfASmallExample) {
  const AlignmentScore score =
      score_alignments({{{0, 0}, {1, 1}}, {{0, 1}}},
                       {all_sure({{0, 0}, {1, 1}, {2, 2}}), all_sure({{0, 0}, {1, 1}})});
  EXPECT_DOUBLE_EQ(score.error_rate, 0.5);
  EXPECT_DOUBLE_EQ(score.precision, 2. / 3);
  EXPECT_DOUBLE_EQ(score.recall, 2. / 5);
  EXPECT_EQ(score.matches, 2u);
  EXPECT_EQ(score.proposed, 3u);
  EXPECT_EQ(score.sure, 5u);
}

// In A = {0-0, 1-1, 2-2, 3-0} the first is sure, the next two possible: 1 − (1 + 3) / (4 + 2).
TEST(AlignmentError, APossibleLinkIsNeitherRequiredNorAnError) {
  const AlignmentScore score = score_alignments({{{0, 0}, {1, 1}, {2, 2}, {3, 0}}},
                                                {parse_alignment("0-0 1?1 2?2 1-0 4?4", "a", 1)});
  EXPECT_DOUBLE_EQ(score.error_rate, 1 - 4. / 6);
  EXPECT_DOUBLE_EQ(score.precision, 3. / 4);
  EXPECT_DOUBLE_EQ(score.recall, 1. / 2);
}

TEST(AlignmentError, NoLinksOnEitherSideScoreZero) {
  EXPECT_EQ(score_alignments({{}}, {{}}).error_rate, 0);
}

TEST(AlignmentError, NoProposedLinksScoreOne) {
  EXPECT_EQ(score_alignments({{}}, {all_sure({{0, 0}})}).error_rate, 1);
}

TEST(AlignmentError, DifferentSentenceCountsNameBothCounts) {
  EXPECT_THAT(
      [] {
        score_alignments({{}, {}}, {{}});
      },
      testing::ThrowsMessage<InputError>(
          "found 2 alignments, but 1 gold alignment: give one line for each sentence"));
}

Alignment links(const char* text) {
  return parse_alignment(text, "test", 1).sure;
}

TEST(Symmetrisation, IntersectionAndUnion) {
  const auto a = links("0-0 1-2 2-1");
  const auto b = links("0-0 1-1 2-1");
  EXPECT_EQ(symmetrise(a, b, Symmetrisation::intersection), links("0-0 2-1"));
  EXPECT_EQ(symmetrise(a, b, Symmetrisation::union_of_both), links("0-0 1-1 1-2 2-1"));
}

TEST(Symmetrisation, GrowsToNeighboursIncludingDiagonals) {
  // 1-1 is diagonally next to 0-0, and then 1-2 is next to 1-1: target 2 has no link yet.
  EXPECT_EQ(symmetrise(links("0-0 1-1"), links("0-0 1-2"), Symmetrisation::grow_diag_final_and),
            links("0-0 1-1 1-2"));
}

TEST(Symmetrisation, DoesNotGrowIfBothWordsHaveLinks) {
  EXPECT_EQ(symmetrise(links("0-0 1-1"), links("0-0 0-1 1-1"), Symmetrisation::grow_diag_final_and),
            links("0-0 1-1"));
}

TEST(Symmetrisation, FinalAndAddsLinksOfTwoFreeWords) {
  // 3-3 is far from 0-0; one word of 5-3 and of 3-6 has a link by then.
  EXPECT_EQ(symmetrise(links("0-0 3-3 3-6"), links("0-0 5-3"), Symmetrisation::grow_diag_final_and),
            links("0-0 3-3"));
}

TEST(Symmetrisation, IsBetweenIntersectionAndUnionAndIsMaximal) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::uint32_t> word(0, 5);
  const auto draw = [&] {
    Alignment alignment;
    for (int i = 0; i < 8; ++i) alignment.push_back({word(random), word(random)});
    std::ranges::sort(alignment);
    alignment.erase(std::unique(alignment.begin(), alignment.end()), alignment.end());
    return alignment;
  };
  for (int round = 0; round < 500; ++round) {
    const auto a = draw();
    const auto b = draw();
    const auto all = symmetrise(a, b, Symmetrisation::union_of_both);
    const auto grown = symmetrise(a, b, Symmetrisation::grow_diag_final_and);
    EXPECT_THAT(grown, IsSupersetOf(symmetrise(a, b, Symmetrisation::intersection)));
    EXPECT_THAT(all, IsSupersetOf(grown));
    // Each link that was not added has a word with a link.
    for (const auto& link : all) {
      const bool touched = std::ranges::any_of(grown, [&](const auto& there) {
        return there.source == link.source || there.target == link.target;
      });
      EXPECT_TRUE(touched);
    }
    EXPECT_EQ(symmetrise(a, a, Symmetrisation::grow_diag_final_and), a);
  }
}

// The loops of Koehn, Och and Marcu over a table, in place, in the order of Moses.
Alignment by_loops(const Alignment& forward, const Alignment& backward, int words) {
  using Table = std::vector<std::vector<bool>>;  // [target][source], with a margin
  const auto table = [&](const Alignment& links) {
    Table marks(words + 2, std::vector<bool>(words + 2));
    for (const auto& link : links) marks[link.target + 1][link.source + 1] = true;
    return marks;
  };
  const Table f = table(forward), b = table(backward);
  Table now(words + 2, std::vector<bool>(words + 2));
  std::vector<bool> source_has(words + 2), target_has(words + 2);
  const auto mark = [&](int t, int s) { now[t][s] = source_has[s] = target_has[t] = true; };
  const auto each = [&](const auto& visit) {
    for (int t = 1; t <= words; ++t) {
      for (int s = 1; s <= words; ++s) visit(t, s);
    }
  };
  each([&](int t, int s) {
    if (f[t][s] && b[t][s]) mark(t, s);
  });
  bool added = true;
  const auto grow = [&](int t, int s) {
    if ((!f[t][s] && !b[t][s]) || (source_has[s] && target_has[t])) return;
    mark(t, s);
    added = true;
  };
  while (added) {
    added = false;
    each([&](int t, int s) {
      if (!now[t][s]) return;
      grow(t - 1, s), grow(t, s - 1), grow(t + 1, s), grow(t, s + 1);
      grow(t - 1, s - 1), grow(t - 1, s + 1), grow(t + 1, s - 1), grow(t + 1, s + 1);
    });
  }
  for (const auto* last : {&f, &b}) {
    each([&](int t, int s) {
      if ((*last)[t][s] && !source_has[s] && !target_has[t]) mark(t, s);
    });
  }
  Alignment links;
  each([&](int t, int s) {
    if (now[t][s]) links.push_back({static_cast<unsigned>(s - 1), static_cast<unsigned>(t - 1)});
  });
  std::ranges::sort(links);
  return links;
}

TEST(Symmetrisation, GrowDiagFinalAndEqualsThatOfMoses) {
  constexpr int words = 9;
  std::mt19937 random(2);
  std::uniform_int_distribution<std::uint32_t> word(0, words - 1);
  for (int round = 0; round < 2000; ++round) {
    // One link for each word of one side, near the diagonal as in real text.
    const auto draw = [&](bool by_target) {
      Alignment alignment;
      for (std::uint32_t i = 0; i < words; ++i) {
        const auto other = std::min<std::uint32_t>(words - 1, (i + word(random) / 2));
        alignment.push_back(by_target ? AlignmentLink{other, i} : AlignmentLink{i, other});
      }
      std::ranges::sort(alignment);
      return alignment;
    };
    const auto forward = draw(true), backward = draw(false);
    EXPECT_EQ(symmetrise(forward, backward, Symmetrisation::grow_diag_final_and),
              by_loops(forward, backward, words));
  }
}

TEST(Symmetrisation, EmptyAlignmentsStayEmpty) {
  EXPECT_THAT(symmetrise({}, {}, Symmetrisation::grow_diag_final_and), IsEmpty());
}

TEST(Symmetrisation, TransposedExchangesTheSides) {
  EXPECT_EQ(transposed(links("0-3 1-0 2-2")), links("0-1 2-2 3-0"));
}

}  // namespace
}  // namespace regard::alignment_test
