#include "config/output_lengths.h"

#include <gtest/gtest.h>

namespace regard::output_lengths_test {
namespace {

SearchOptions limits(std::int64_t length, double ratio) {
  SearchOptions options;
  options.max_output_length = length;
  options.max_output_ratio = ratio;
  return options;
}

TEST(OutputLengths, TheLimitIsTheLowerOfBoth) {
  EXPECT_EQ(output_limit_by_source(4, limits(100, 3)), 22);
  EXPECT_EQ(output_limit_by_source(40, limits(100, 3)), 100);
  EXPECT_EQ(output_limit_by_source(40, limits(100, 0)), 100);
  EXPECT_EQ(output_limit_by_source(INT64_MAX, limits(INT64_MAX / 2, 1000)), INT64_MAX / 2);
}

TEST(OutputLengths, ATargetAtItsLimitIsReached) {
  OutputLengths lengths(limits(100, 3));
  lengths.add(3, 21);  // 4 and 22 with </s>
  EXPECT_EQ(lengths.longer_targets(), 0);
  EXPECT_FALSE(lengths.exceed_limits());
  lengths.add(3, 22);
  EXPECT_EQ(lengths.longer_targets(), 1);
  EXPECT_DOUBLE_EQ(lengths.unreachable_share(), 1.0 / 45);
  EXPECT_TRUE(lengths.exceed_limits());
}

TEST(OutputLengths, LessThanOnePercentOfTokensAndTargetsDoesNotCount) {
  const auto exceed = [](std::int64_t longest, int others, std::int64_t length) {
    OutputLengths lengths(limits(20, 0));
    lengths.add(5, longest);
    for (int i = 0; i < others; ++i) lengths.add(5, length);
    EXPECT_EQ(lengths.longer_targets(), 1);
    return lengths.exceed_limits();
  };
  EXPECT_FALSE(exceed(20, 100, 1));  // 1 token of 221, 1 target of 101
  EXPECT_TRUE(exceed(20, 99, 1));    // 1 target of 100
  EXPECT_TRUE(exceed(29, 100, 1));   // 10 tokens of 230
  EXPECT_FALSE(OutputLengths(limits(20, 0)).exceed_limits());
}

TEST(OutputLengths, WithTheNeededLimitsEveryTargetIsReached) {
  const std::pair<std::int64_t, std::int64_t> pairs[] = {{2, 43}, {7, 61}, {30, 153}, {1, 5}};
  OutputLengths first(limits(100, 3));
  for (const auto& [source, target] : pairs) first.add(source, target);
  EXPECT_EQ(first.needed_length(), 160);
  EXPECT_EQ(first.needed_ratio(), 11.5);  // (44 − 10) / 3 = 11.33
  OutputLengths again(limits(first.needed_length(), first.needed_ratio()));
  for (const auto& [source, target] : pairs) again.add(source, target);
  EXPECT_EQ(again.longer_targets(), 0);
}

}  // namespace
}  // namespace regard::output_lengths_test
