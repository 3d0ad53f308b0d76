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
#include "tests/checkpoint/scratch_folder.h"

namespace regard::file_lock_test {
namespace {

using testing::HasSubstr;

std::string failure(const std::string& file) {
  return message_of<EnvironmentError>([&] { const FileLock lock(file, "somebody works here"); });
}

TEST(FileLock, IsExclusiveUntilItsEnd) {
  const ScratchFolder folder;
  const auto file = folder.path("lock");
  std::optional<FileLock> lock(std::in_place, file, "");
  EXPECT_EQ(failure(file), "somebody works here");
  lock.reset();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(failure(file), "");
}

TEST(FileLock, TheFileOfAKilledProcessIsFree) {
  const ScratchFolder folder;
  const auto file = folder.path("lock");
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
