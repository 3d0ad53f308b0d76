#include "base/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace regard::file_lock_test {
namespace {

using testing::HasSubstr;

std::string path() {
  return testing::TempDir() + "regard_file_lock_" + std::to_string(::getpid());
}

std::string failure(const std::string& file) {
  try {
    const FileLock lock(file, "somebody works here");
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

TEST(FileLock, IsExclusiveUntilItsEnd) {
  std::optional<FileLock> lock(std::in_place, path(), "");
  EXPECT_EQ(failure(path()), "somebody works here");
  lock.reset();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(failure(path()), "");
}

TEST(FileLock, TheFileOfAKilledProcessIsFree) {
  const auto file = path();  // the child has another process id
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock(file, "");
    ::_exit(0);  // without destructors
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(failure(file), "");
}

TEST(FileLock, NamesTheReasonOfAFailure) {
  EXPECT_THAT(failure("/no/such/folder/lock"), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace regard::file_lock_test
