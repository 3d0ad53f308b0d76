#include "metrics/alignment_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard {
namespace {

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

}  // namespace
}  // namespace regard
