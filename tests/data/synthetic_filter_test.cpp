#include "data/synthetic_filter.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace regard::synthetic_filter_test {
namespace {

// A pair that every filter keeps: 4 and 5 tokens, and -1 per token with </s>.
TranslatedLine good_pair() {
  return {.text = "they are watching .",
          .translation = "ils regardent tous ici .",
          .text_tokens = 4,
          .translation_tokens = 5,
          .log_probability = -6};
}

PairFate judge(const SyntheticFilterOptions& options, const TranslatedLine& line) {
  SyntheticFilter filter(options);
  const auto fate = filter.judge(line, line.translation, line.text);
  EXPECT_EQ(filter.count_of(fate), 1);
  return fate;
}

TEST(SyntheticFilter, BlankSidesAndLineBreaksAreDropped) {
  EXPECT_EQ(judge({}, good_pair()), PairFate::kept);
  auto blank = good_pair();
  blank.translation = " \t";
  EXPECT_EQ(judge({}, blank), PairFate::empty);
  blank = good_pair();
  blank.text = "\u3000";  // an ideographic space
  EXPECT_EQ(judge({}, blank), PairFate::empty);
  auto broken = good_pair();
  broken.translation = "ils\nregardent";
  EXPECT_EQ(judge({}, broken), PairFate::empty);
}

TEST(SyntheticFilter, UnfinishedTranslationsAndCopiesAreDroppedUnlessWanted) {
  auto unfinished = good_pair();
  unfinished.finished = false;
  EXPECT_EQ(judge({}, unfinished), PairFate::unfinished);
  EXPECT_EQ(judge({.keep_unfinished = true}, unfinished), PairFate::kept);
  auto copy = good_pair();
  copy.translation = copy.text;
  EXPECT_EQ(judge({}, copy), PairFate::copy);
  EXPECT_EQ(judge({.keep_copies = true}, copy), PairFate::kept);
}

TEST(SyntheticFilter, LimitsOfLengthAreInclusive) {
  EXPECT_EQ(judge({.min_length = 4, .max_length = 5}, good_pair()), PairFate::kept);
  EXPECT_EQ(judge({.min_length = 5}, good_pair()), PairFate::too_short);
  EXPECT_EQ(judge({.max_length = 4}, good_pair()), PairFate::too_long);
  EXPECT_EQ(judge({.max_ratio = 1.25}, good_pair()), PairFate::kept);
  EXPECT_EQ(judge({.max_ratio = 1.24}, good_pair()), PairFate::high_ratio);
  auto reversed = good_pair();
  reversed.text_tokens = 5;
  reversed.translation_tokens = 4;
  EXPECT_EQ(judge({.max_ratio = 1.24}, reversed), PairFate::high_ratio);
}

TEST(SyntheticFilter, TheScoreIsPerTokenWithTheEndIfItWasReached) {
  EXPECT_EQ(judge({.min_score = -1}, good_pair()), PairFate::kept);
  EXPECT_EQ(judge({.min_score = -0.99}, good_pair()), PairFate::low_score);
  auto unfinished = good_pair();  // -6 over 5 tokens
  unfinished.finished = false;
  EXPECT_EQ(judge({.min_score = -1, .keep_unfinished = true}, unfinished), PairFate::low_score);
  EXPECT_EQ(judge({.min_score = -1.2, .keep_unfinished = true}, unfinished), PairFate::kept);
  auto undefined = good_pair();
  undefined.log_probability = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge({.min_score = -1000}, undefined), PairFate::low_score);
}

TEST(SyntheticFilter, TheFirstReasonCounts) {
  auto bad = good_pair();
  bad.finished = false;
  bad.translation = bad.text;
  const SyntheticFilterOptions strict = {.min_score = -0.1, .max_length = 1};
  EXPECT_EQ(judge(strict, bad), PairFate::unfinished);
  bad.finished = true;
  EXPECT_EQ(judge(strict, bad), PairFate::copy);
  bad.translation = "ils";
  EXPECT_EQ(judge(strict, bad), PairFate::too_long);
}

TEST(SyntheticFilter, ADuplicateIsAnEqualPairThatWasKept) {
  SyntheticFilter filter({.max_length = 5});
  const auto line = good_pair();
  auto too_long = line;
  too_long.text_tokens = 6;
  EXPECT_EQ(filter.judge(too_long, "a", "b"), PairFate::too_long);
  EXPECT_EQ(filter.judge(line, "a", "b"), PairFate::kept);
  EXPECT_EQ(filter.judge(line, "a", "b"), PairFate::duplicate);
  EXPECT_EQ(filter.judge(line, "<bt> a", "b"), PairFate::kept);
  EXPECT_EQ(filter.judge(line, "b", "a"), PairFate::kept);
  filter.add_earlier("c", "d");
  EXPECT_EQ(filter.judge(line, "c", "d"), PairFate::duplicate);
  EXPECT_EQ(filter.count_of(PairFate::kept), 3);
  EXPECT_EQ(filter.count_of(PairFate::duplicate), 2);

  SyntheticFilter all({.keep_duplicates = true});
  all.add_earlier("a", "b");
  EXPECT_EQ(all.judge(line, "a", "b"), PairFate::kept);
  EXPECT_EQ(all.judge(line, "a", "b"), PairFate::kept);
}

TEST(SyntheticFilter, CountsAreRestored) {
  SyntheticFilter filter({});
  filter.count(PairFate::too_long);
  filter.count(PairFate::too_long);
  filter.judge(good_pair(), "a", "b");
  SyntheticFilter restored({});
  restored.set_counts(parse_json(to_text(filter.counts())));
  EXPECT_EQ(restored.counts(), filter.counts());
  EXPECT_EQ(restored.count_of(PairFate::too_long), 2);
  EXPECT_EQ(restored.count_of(PairFate::kept), 1);
}

}  // namespace
}  // namespace regard::synthetic_filter_test
