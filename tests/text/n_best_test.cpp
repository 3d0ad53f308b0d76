#include "text/n_best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

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

TEST(NBest, AFeatureHasTheNumbersAfterItsName) {
  const auto entry = parse_n_best("0 ||| a ||| 7 tm= -1 2 lm=-3 x=y= inf none= tm= 4", "list", 1);
  std::vector<std::string> names;
  for (const auto& feature : parse_features(entry)) names.push_back(feature.name);
  EXPECT_THAT(names, testing::ElementsAre("tm", "lm", "x=y", "none"));
  EXPECT_THAT(parse_features(entry)[0].numbers, testing::ElementsAre(-1, 2, 4));
  EXPECT_EQ(feature_value(entry, "lm"), -3);
  EXPECT_EQ(feature_value(entry, "x=y"), std::numeric_limits<double>::infinity());
  for (const auto* name : {"tm", "none", "x", "nosuch"}) {
    EXPECT_FALSE(feature_value(entry, name).has_value()) << name;
  }
}

TEST(NBest, AFeatureIsAddedAfterTheOthers) {
  NBestEntry entry;
  entry.features = "tm= -1 2 x= 4";
  add_feature(entry, "lm", -0.1234567);
  EXPECT_EQ(entry.features, "tm= -1 2 x= 4 lm= -0.123457");
  EXPECT_EQ(feature_value(entry, "lm"), -0.123457);
  NBestEntry empty;
  add_feature(empty, "a", 1);
  EXPECT_EQ(empty.features, "a= 1.000000");
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
