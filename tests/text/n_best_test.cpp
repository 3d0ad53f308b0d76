#include "text/n_best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard::n_best_test {
namespace {

using testing::HasSubstr;

TEST(NBest, ALineIsParsedAndFormattedBack) {
  const std::string line = "3 ||| the cat . ||| logprob= -2.1 lm= 0.5 ||| -0.7";
  const auto entry = parse_n_best(line, "list", 1);
  EXPECT_EQ(entry.sentence, 3U);
  EXPECT_EQ(entry.text, "the cat .");
  EXPECT_EQ(entry.features, "logprob= -2.1 lm= 0.5");
  EXPECT_EQ(entry.score, "-0.7");
  EXPECT_EQ(format_n_best(entry), line);
}

TEST(NBest, ATranslationMayBeEmptyAndALineMayEndEarly) {
  EXPECT_EQ(parse_n_best("0 |||  ||| a= 1 ||| 2", "list", 1).text, "");
  EXPECT_EQ(parse_n_best("0 ||| a b", "list", 1).text, "a b");
  EXPECT_EQ(format_n_best(parse_n_best("0 ||| a b", "list", 1)), "0 ||| a b");
  EXPECT_EQ(format_n_best(parse_n_best("0 ||| a b ||| c= 1", "list", 1)), "0 ||| a b ||| c= 1");
  EXPECT_EQ(format_n_best(parse_n_best("0 ||| a ||| ||| 1", "list", 1)), "0 ||| a |||  ||| 1");
}

TEST(NBest, BarsInATranslationAreEscapedAndParsedBack) {
  for (const std::string text : {"a ||| b", "|||", "a||||", "||||||", "a | b || c"}) {
    const auto line = format_n_best({0, text, "logprob= -1", "-1", {}});
    EXPECT_EQ(parse_n_best(line, "list", 1).text, text) << line;
  }
}

TEST(NBest, FieldsAfterTheScoreAreKept) {
  for (const std::string line :
       {"0 ||| a ||| lm= 1 ||| -2 ||| 0-0 1-1", "0 ||| a |||  |||  ||| 0-0 ||| 1"}) {
    EXPECT_EQ(format_n_best(parse_n_best(line, "list", 1)), line);
  }
}

TEST(NBest, HasFeatureMatchesWholeNames) {
  const auto entry = parse_n_best("0 ||| a= 1 ||| xlm= 1 lm0= 2 lm= 3 ||| 4", "list", 1);
  EXPECT_TRUE(has_feature(entry, "lm"));
  EXPECT_TRUE(has_feature(entry, "xlm"));
  EXPECT_FALSE(has_feature(entry, "m"));
  EXPECT_FALSE(has_feature(entry, "a"));
}

TEST(NBest, AFeatureIsSetInItsPlaceOrAtTheEnd) {
  NBestEntry entry;
  entry.features = "tm= -1 2 lm=-3 x= 4";
  set_feature(entry, "lm", 0.5);
  EXPECT_EQ(entry.features, "tm= -1 2 lm= 0.5000 x= 4");
  set_feature(entry, "tm", 1);
  EXPECT_EQ(entry.features, "tm= 1.0000 lm= 0.5000 x= 4");
  set_feature(entry, "new", -2);
  EXPECT_EQ(feature_value(entry, "new"), -2);
  NBestEntry empty;
  set_feature(empty, "a", 1);
  EXPECT_EQ(empty.features, "a= 1.0000");
}

TEST(NBest, FeaturesAreNamesAndNumbers) {
  for (const std::string features : {"lm= -1 tm= -2.5 -3e-4 -inf", "tm_x=y=2 -1", "=1"}) {
    EXPECT_EQ(parse_n_best("0 ||| a ||| " + features, "list", 1).features, features);
  }
}

TEST(NBest, ErrorsNameTheFileAndLine) {
  for (const auto* line :
       {"", "the cat", "0", "0 ||| a ||| b ||| c ||| d", "x ||| a", "-1 ||| a", "1.5 ||| a",
        " ||| a", "0 ||| a ||| b= 1 ||| nan", "0 ||| a ||| b= x ||| 1", "0 ||| a ||| b=x",
        "99999999999999999999999 ||| a"}) {
    EXPECT_THAT([&] { parse_n_best(line, "list", 7); },
                testing::ThrowsMessage<InputError>(HasSubstr("list:7: found")))
        << line;
  }
}

}  // namespace
}  // namespace regard::n_best_test
