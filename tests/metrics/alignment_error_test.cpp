#include "metrics/alignment_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard {
namespace {

TEST(AlignmentError, LinksAreSortedAndCountedOnce) {
  EXPECT_THAT(parse_alignment(" 10-2  0-1\t0-0 0-1 \r", "a", 1),
              testing::ElementsAre(AlignmentLink{0, 0}, AlignmentLink{0, 1}, AlignmentLink{10, 2}));
}

TEST(AlignmentError, AnythingButTwoWholeNumbersIsAnErrorWithItsLine) {
  for (std::string word : {"0", "0-", "-0", "0-1-2", "0--1", "a-1", "0?1", "0-99999999999"}) {
    SCOPED_TRACE(word);
    EXPECT_THAT([&] { parse_alignment("0-0 " + word, "gold.align", 7); },
                testing::ThrowsMessage<InputError>(
                    "gold.align:7: '" + word +
                    "' is no alignment link: write source-target, both counted from 0, as in 0-0"));
  }
}

TEST(AlignmentError, AnEmptyLineIsASentenceWithoutLinks) {
  EXPECT_TRUE(parse_alignment(" \t\u00A0", "gold.align", 1).empty());
}

// 2 of 3 proposed links are among the 5 sure ones: 1 − 2·2 / (3 + 5).
TEST(AlignmentError, FiguresOfASmallExample) {
  const AlignmentScore score =
      score_alignments({{{0, 0}, {1, 1}}, {{0, 1}}}, {{{0, 0}, {1, 1}, {2, 2}}, {{0, 0}, {1, 1}}});
  EXPECT_DOUBLE_EQ(score.error_rate, 0.5);
  EXPECT_DOUBLE_EQ(score.precision, 2. / 3);
  EXPECT_DOUBLE_EQ(score.recall, 2. / 5);
  EXPECT_EQ(score.matches, 2u);
  EXPECT_EQ(score.proposed, 3u);
  EXPECT_EQ(score.sure, 5u);
}

TEST(AlignmentError, NoLinkOnEitherSideIsNoError) {
  EXPECT_EQ(score_alignments({{}}, {{}}).error_rate, 0);
}

TEST(AlignmentError, NothingProposedIsAllError) {
  EXPECT_EQ(score_alignments({{}}, {{{0, 0}}}).error_rate, 1);
}

TEST(AlignmentError, DifferentSentenceCountsNameBothCounts) {
  EXPECT_THAT(
      [] {
        score_alignments({{}, {}}, {{}});
      },
      testing::ThrowsMessage<InputError>(
          "there are 2 alignments, but 1 gold ones: give one line for each sentence"));
}

}  // namespace
}  // namespace regard
