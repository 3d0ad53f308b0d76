#include "metrics/input_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> repeated(const std::string& line, std::size_t times) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < times; ++i) lines.push_back(std::to_string(i) + " " + line);
  return lines;
}

// 20 lines of plain text.
const NamedText plain{"ref", repeated("They are watching.", 20)};
const NamedText source{"src", repeated("Ils regardent.", 20)};

TEST(InputWarnings, PlainTextHasNone) {
  EXPECT_THAT(input_warnings({"hyp", repeated("They watch.", 20)}, plain, source), IsEmpty());
  EXPECT_THAT(input_warnings(plain, plain, {}), IsEmpty());
}

TEST(InputWarnings, TokenisedHypotheses) {
  EXPECT_THAT(input_warnings({"hyp", repeated("They watch .", 20)}, plain, source),
              ElementsAre(AllOf(
                  HasSubstr("hyp: 20 of 20 lines end in \" .\""),
                  HasSubstr("the hypotheses look tokenised; score plain, detokenised text"))));
  EXPECT_THAT(input_warnings({"hyp", repeated("They don&apos;t", 20)}, plain, source),
              ElementsAre(HasSubstr("Moses")));
}

TEST(InputWarnings, SplitHypotheses) {
  EXPECT_THAT(input_warnings({"hyp", repeated("They wat@@ ch.", 20)}, plain, source),
              ElementsAre(HasSubstr("split into sub-words")));
  EXPECT_THAT(input_warnings({"hyp", repeated("▁They ▁watch .", 20)}, plain, source),
              testing::SizeIs(2));
}

TEST(InputWarnings, TokenisedReferencesToo) {
  const NamedText tokens{"ref", repeated("They are watching .", 20)};
  EXPECT_THAT(input_warnings({"hyp", repeated("They watch .", 20)}, tokens, source),
              ElementsAre(HasSubstr("and so do the references")));
}

TEST(InputWarnings, ReferencesThatLookLikeOutputMayBeSwapped) {
  for (const auto* line : {"They watch .", "They <unk>", "They wat@@ ch"}) {
    EXPECT_THAT(input_warnings(plain, {"out", repeated(line, 20)}, source),
                ElementsAre(AllOf(HasSubstr("out: 20 of 20 lines"), HasSubstr("swapped?"))));
  }
  EXPECT_THAT(input_warnings({"hyp", repeated("They <unk>", 20)}, plain, source), IsEmpty())
      << "hypotheses are the output of a system";
}

TEST(InputWarnings, TheSourceInsteadOfAnotherFile) {
  EXPECT_THAT(input_warnings({"hyp", source.lines}, plain, source),
              ElementsAre(HasSubstr("hyp: 20 of 20 lines are those of src")));
  EXPECT_THAT(input_warnings(plain, {"ref", source.lines}, source),
              ElementsAre(AllOf(HasSubstr("ref: 20 of 20 lines are those of src"),
                                HasSubstr("given as references?"))));
}

TEST(InputWarnings, IgnoresAFewLines) {
  EXPECT_THAT(
      input_warnings({"hyp", repeated("They watch .", 4)}, {"ref", repeated("They watch.", 4)},
                     {"src", repeated("They watch .", 4)}),
      IsEmpty());
  auto lines = repeated("They watch.", 300);
  for (std::size_t i = 0; i < 99; ++i) lines[i] = "They watch .";
  const NamedText reference{"ref", repeated("They watch.", 300)};
  EXPECT_THAT(input_warnings({"hyp", lines}, reference, {}), IsEmpty());
  lines[99] = "They watch .";
  EXPECT_THAT(input_warnings({"hyp", lines}, reference, {}), testing::SizeIs(1)) << "100 are";
}

}  // namespace
}  // namespace regard
