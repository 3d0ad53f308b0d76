// What a command line that cannot be understood gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run.h"

namespace regard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Usage, AMisspeltCommandHasASuggestion) {
  const auto finished = run({"trian", "-c", "x.yaml"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err,
              AllOf(StartsWith("error: "), HasSubstr("`train`"), HasSubstr("regard --help")));
}

TEST(Usage, AMisspeltOptionHasASuggestion) {
  const auto finished = run({"translate", "-m", "x", "--beem-size", "3"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("error: "), HasSubstr("`--beam-size`"),
                                  HasSubstr("regard translate --help")));
}

TEST(Usage, WhatResemblesNothingIsNamed) {
  const auto finished = run({"config", "print", "--qqqqqqqq"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("--qqqqqqqq"), HasSubstr("regard config print --help")));
}

TEST(Usage, NoCommandAtAllSaysThatOneIsWanted) {
  const auto finished = run({});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("error: "), HasSubstr("there are train, translate")));
}

TEST(Usage, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_EQ(run({"train", "--help"}).code, 0);
  const auto version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(lines_of(version.out).size(), 1u);
}

}  // namespace
}  // namespace regard
