// Search options on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "tests/cli/run.h"

namespace regard::search_options_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::size_t words_in(const std::string& line) {
  std::istringstream words(line);
  return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(words), {}));
}

TEST(SearchOptionsCli, EachOptionHasAnEffect) {
  const auto input = toy_corpus(20, 5).source;
  for (const auto& line : lines_of(translate({"--min-output-length", "9"}, input).out)) {
    EXPECT_GE(words_in(line), 9U) << line;
  }
  for (const auto& line :
       lines_of(translate({"--no-repeat-ngram", "1", "--beam-size", "1"}, input).out)) {
    std::istringstream words(line);
    std::vector<std::string> seen(std::istream_iterator<std::string>(words), {});
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end()) << line;
  }
  const auto plain = translate({"--n-best", "1"}, input);
  for (const Words& option : {Words{"--length-penalty", "power"},
                              {"--coverage-beta", "0.5"},
                              {"--repetition-penalty", "3"}}) {
    const auto finished = translate(option + Words{"--n-best", "1"}, input);
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_NE(finished.out, plain.out) << option[0];
  }
}

TEST(SearchOptionsCli, ExactStoppingEqualsNeverStopping) {
  const auto input = toy_corpus(20, 6).source;
  for (const std::string n_best : {"1", "3"}) {
    const auto exact = translate({"--early-stopping", "exact", "--n-best", n_best}, input);
    ASSERT_EQ(exact.code, 0) << exact.err;
    EXPECT_EQ(exact.out, translate({"--early-stopping", "never", "--n-best", n_best}, input).out);
  }
}

TEST(SearchOptionsCli, UnknownChoicesAreUsageErrors) {
  const auto finished = translate({"--length-penalty", "log"}, "the cat\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("found `log`, expected one of gnmt, power"));
}

TEST(SearchOptionsCli, ContradictionsAreUsageErrors) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--min-output-length", "100"}, "search.min_output_length is 100, but"},
      {{"--beam-groups", "2"}, "search.beam_groups is 2, but search.beam_size is 3"},
      {{"--diversity", "2"}, "search.diversity: 0.5 → 2: only search.beam_groups above 1 uses it"},
      {{"--temperature", "0.5"},
       "search.temperature: 1 → 0.5: only search.samples above 0 uses it"},
      {{"--seed", "7"}, "search.seed: 1 → 7: only search.samples above 0 uses it"},
      {{"--samples", "2", "--n-best", "3"}, "--n-best 3: found 2 samples to choose from"},
      {{"--samples", "2", "--beam-groups", "3"}, "samples have no beam"}};
  for (const auto& [arguments, message] : cases) {
    const auto finished = translate(arguments, "the cat\n");
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
  }
}

TEST(SearchOptionsCli, CoverageNeedsAttention) {
  const auto finished = run(
      {"translate", "-m", tiny_fixed_context().string(), "--coverage-beta", "0.2"}, "the cat\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("coverage_beta is 0.2, but the model has no attention"));
  const auto transformer =
      run({"translate", "-m", tiny_transformer().string(), "--coverage-beta", "0.2"}, "the cat\n");
  EXPECT_EQ(transformer.code, 0) << transformer.err;
}

TEST(SearchOptionsCli, DiverseGroupsWriteAnNBestList) {
  const auto finished =
      translate({"--beam-size", "4", "--beam-groups", "4", "--diversity", "50", "--n-best", "4"},
                "the cat\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_GT(lines_of(finished.out).size(), 1U);
}

TEST(SearchOptionsCli, SamplesDependOnlyOnSeedAndLine) {
  const auto input = toy_corpus(30, 7).source + "\n" + toy_corpus(5, 8).source;
  const auto once = translate({"--samples", "3", "--seed", "5"}, input);
  ASSERT_EQ(once.code, 0) << once.err;
  const auto lines = lines_of(once.out);
  ASSERT_THAT(lines, SizeIs(35 * 3 + 1));
  EXPECT_EQ(lines[0].rfind("0 ||| ", 0), 0U);
  EXPECT_EQ(lines[2].rfind("0 ||| ", 0), 0U);
  EXPECT_EQ(lines.back().rfind("35 ||| ", 0), 0U);  // the blank line has the number 30
  EXPECT_EQ(
      translate({"--samples", "3", "--seed", "5", "--batch-size", "7", "--threads", "2"}, input)
          .out,
      once.out);
  EXPECT_NE(translate({"--samples", "3", "--seed", "6"}, input).out, once.out);
}

}  // namespace
}  // namespace regard::search_options_test
