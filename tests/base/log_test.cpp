#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::log_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Log : public testing::Test {
 protected:
  void TearDown() override { log::set_level(log::Level::info); }
  std::string file() const { return bytes_of(path_); }

  ScratchFolder folder_;
  std::string path_ = folder_.path("log");
};

TEST_F(Log, WritesToStderrAndToTheFile) {
  log::open_file(path_);
  testing::internal::CaptureStderr();
  log::warning("the {} is {}", "answer", 42);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: the answer is 42\n");
  EXPECT_THAT(file(), HasSubstr("warning: the answer is 42\n"));
}

TEST_F(Log, DropsMessagesBelowTheLevel) {
  log::open_file(path_);
  log::set_level(log::Level::warning);
  log::info("hidden");
  log::warning("shown");
  EXPECT_THAT(file(), AllOf(Not(HasSubstr("hidden")), HasSubstr("shown")));
}

TEST_F(Log, EscapesControlCharacters) {
  testing::internal::CaptureStderr();
  log::info("a\tb\nç {}",
            "\x1B]0;title\a \x7F \xC2\x9B"
            "2J \r");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a\tb\nç \\x1B]0;title\\x07 \\x7F \\u009B2J \\x0D\n");
}

TEST_F(Log, UnwritableFileIsAnEnvironmentError) {
  EXPECT_THROW(log::open_file("/proc/no/such/log"), EnvironmentError);
}

}  // namespace
}  // namespace regard::log_test
