#include "metrics/input_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/choice.h"

namespace regard::input_warnings_test {
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

TEST(InputWarnings, FiveLinesAreEnoughIfTheyAreHalfOfTheText) {
  for (const std::size_t marked : {5, 6}) {
    auto lines = repeated("They watch.", 10);
    for (std::size_t i = 0; i < marked; ++i) lines[i] = "They watch .";
    const NamedText reference{"ref", repeated("They watch.", 10)};
    EXPECT_THAT(input_warnings({"hyp", lines}, reference, {}), testing::SizeIs(1)) << marked;
    lines.push_back("They watch.");
    const NamedText longer{"ref", repeated("They watch.", 11)};
    EXPECT_EQ(input_warnings({"hyp", lines}, longer, {}).size(), marked - 5);
  }
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

const std::vector<std::string> chinese{"我们昨天在北京看了一场电影。",
                                       "他 2019 年搬到了上海，住在河边。"};
const std::vector<std::string> japanese{"私たちは昨日、東京で映画を見ました。",
                                        "ＡＢＣを買いました。"};
const std::vector<std::string> thai{"เมื่อวานเราดูหนังที่กรุงเทพ"};

MetricOptions with_tokenizer(BleuTokenizer tokenizer) {
  MetricOptions options;
  options.bleu.tokenizer = tokenizer;
  return options;
}

TEST(UnspacedText, WarnsOfATokenizerThatDoesNotSplitTheScript) {
  const auto bleu = [](const std::vector<std::string>& lines, BleuTokenizer tokenizer) {
    return unspaced_text_warnings("ref", lines, {"bleu", "chrf"}, with_tokenizer(tokenizer));
  };
  for (const auto tokenizer :
       {BleuTokenizer::mteval_13a, BleuTokenizer::intl, BleuTokenizer::none}) {
    EXPECT_THAT(bleu(chinese, tokenizer),
                ElementsAre(AllOf(HasSubstr("ref: found Chinese"), HasSubstr(enum_name(tokenizer)),
                                  HasSubstr("use --tokenize zh, or char"))));
    EXPECT_THAT(bleu(japanese, tokenizer),
                ElementsAre(AllOf(HasSubstr("found Japanese"), HasSubstr("use --tokenize char"))));
  }
  EXPECT_THAT(bleu(chinese, BleuTokenizer::chinese), IsEmpty());
  EXPECT_THAT(bleu(chinese, BleuTokenizer::character), IsEmpty());
  EXPECT_THAT(bleu(japanese, BleuTokenizer::chinese),
              ElementsAre(HasSubstr("--tokenize zh treats")))
      << "kana are no Chinese characters";
  EXPECT_THAT(bleu(japanese, BleuTokenizer::character), IsEmpty());
  EXPECT_THAT(bleu(thai, BleuTokenizer::mteval_13a), ElementsAre(HasSubstr("Thai")));
}

TEST(UnspacedText, TerNeedsItsOptionsAndChrfNone) {
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"chrf"}, {}), IsEmpty());
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"ter"}, {}),
              ElementsAre(HasSubstr("use --ter-normalized --ter-asian-support")));
  MetricOptions options;
  options.ter.asian_support = true;
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"ter"}, options), testing::SizeIs(1));
  options.ter.normalized = true;
  EXPECT_THAT(unspaced_text_warnings("ref", chinese, {"ter"}, options), IsEmpty());
}

}  // namespace
}  // namespace regard::input_warnings_test
