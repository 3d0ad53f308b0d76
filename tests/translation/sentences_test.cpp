#include "translation/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/unicode.h"

namespace regard::sentences_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SentenceSplitter, SentencesEndAtMarks) {
  const SentenceSplitter splitter("en");
  EXPECT_THAT(splitter.split("A dog runs. Is it \"fast\"?  Yes! It is."),
              ElementsAre("A dog runs.", "Is it \"fast\"?", "Yes!", "It is."));
  EXPECT_THAT(splitter.split("He said \"Go.\" Then he went."),
              ElementsAre("He said \"Go.\"", "Then he went."));
  EXPECT_THAT(splitter.split("the cat . The dog ."), ElementsAre("the cat .", "The dog ."));
  EXPECT_THAT(splitter.split("  one sentence without a mark "),
              ElementsAre("one sentence without a mark"));
  EXPECT_THAT(splitter.split("  "), IsEmpty());
  EXPECT_THAT(splitter.split(""), IsEmpty());
}

TEST(SentenceSplitter, AbbreviationsAndNumbersEndNone) {
  const SentenceSplitter english("en");
  EXPECT_THAT(english.split("Mr. Smith paid 3.50 to Dr. Jones. He left."),
              ElementsAre("Mr. Smith paid 3.50 to Dr. Jones.", "He left."));
  EXPECT_THAT(
      english.split("The U.S. Army and J. R. Smith (see No. 5). \"St. Paul?\" No. A plan B."),
      ElementsAre("The U.S. Army and J. R. Smith (see No. 5).", "\"St. Paul?\"", "No.",
                  "A plan B."));
  EXPECT_THAT(english.split("He is 3. She is 4."), ElementsAre("He is 3.", "She is 4."));
  EXPECT_THAT(
      SentenceSplitter("de").split("Das ist z.B. Herr Meier. Sie war am 3. Mai da. Er singt."),
      ElementsAre("Das ist z.B. Herr Meier.", "Sie war am 3. Mai da.", "Er singt."));
  EXPECT_THAT(SentenceSplitter("xx-nonsense").split("A dog. A cat."),
              ElementsAre("A dog.", "A cat."));
}

TEST(SentenceSplitter, OtherScriptsHaveTheirOwnMarks) {
  const SentenceSplitter splitter;
  EXPECT_THAT(splitter.split("大猫和小狗。小狗在哪里？在这里！"),
              ElementsAre("大猫和小狗。", "小狗在哪里？", "在这里！"));
  EXPECT_THAT(splitter.split("猫です。犬です。"), ElementsAre("猫です。", "犬です。"));
  EXPECT_THAT(splitter.split("यह कुत्ता है। वह बिल्ली है।"), ElementsAre("यह कुत्ता है।", "वह बिल्ली है।"));
}

TEST(SentenceSplitter, NoCharacterIsLost) {
  const SentenceSplitter splitter("fr");
  const std::string line = "Un chat… 🐱 dort. \u00a0« Où ? » Là ! M. Durand l'a vu.\u2028Fin.";
  std::size_t at = 0;
  for (const auto sentence : splitter.split(line)) {
    const auto begin = static_cast<std::size_t>(sentence.data() - line.data());
    EXPECT_TRUE(is_blank(line.substr(at, begin - at)));
    at = begin + sentence.size();
  }
  EXPECT_TRUE(is_blank(line.substr(at)));
}

}  // namespace
}  // namespace regard::sentences_test
