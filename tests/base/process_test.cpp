#include "base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>

namespace regard::process_test {
namespace {

using testing::HasSubstr;

ExitCode report(const std::exception& error, const std::string& message) {
  testing::internal::CaptureStderr();
  const auto code = report_failure(error);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(message));
  return code;
}

TEST(Failure, ReturnsTheExitCodeOfTheError) {
  EXPECT_EQ(report(ConfigError("key: found 1"), "error: key: found 1"), ExitCode::usage);
  EXPECT_EQ(report(std::bad_alloc(), "not enough memory"), ExitCode::environment);
  EXPECT_EQ(report(std::runtime_error("CUDA out of memory"), "not enough memory"),
            ExitCode::environment);
  const std::system_error no_thread(
      std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(report(no_thread, "cannot start more threads"), ExitCode::environment);
  const std::filesystem::filesystem_error no_file(
      "status", "/x", std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(report(no_file, "[/x]"), ExitCode::environment);
  EXPECT_EQ(report(std::logic_error("odd"), "unexpected: odd"), ExitCode::unexpected);
}

TEST(Failure, LogsNoStackTrace) {
  testing::internal::CaptureStderr();
  report_failure(std::runtime_error("odd\nException raised from f at g.cpp:1\nframe #0: h"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(HasSubstr("frame")));
}

void throw_in_a_thread(const std::exception_ptr& error) {
  report_uncaught_exceptions();
  std::thread([&] { std::rethrow_exception(error); }).join();
}

TEST(FailureDeathTest, UncaughtExceptionInAThreadEndsTheProgramWithACode) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(throw_in_a_thread(std::make_exception_ptr(std::bad_alloc())),
              testing::ExitedWithCode(6), "not enough memory");
  EXPECT_EXIT(throw_in_a_thread(std::make_exception_ptr(InputError("a.en:3: odd"))),
              testing::ExitedWithCode(3), "error: a.en:3: odd");
  EXPECT_EXIT(throw_in_a_thread(std::make_exception_ptr(7)), testing::ExitedWithCode(1),
              "unexpected");
}

#ifndef __SANITIZE_ADDRESS__  // the sanitizer handles the signal itself
void use_invalid_memory() {
  prepare_process();
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::raise(SIGSEGV);
}

TEST(FailureDeathTest, AFaultEndsTheProgramByItsSignal) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(use_invalid_memory(), testing::KilledBySignal(SIGSEGV), "");
}
#endif

}  // namespace
}  // namespace regard::process_test
