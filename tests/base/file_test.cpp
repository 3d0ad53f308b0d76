#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/checkpoint/scratch_folder.h"

namespace regard::file_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class File : public testing::Test {
 protected:
  template <typename Exception = InputError>
  std::string error_of(const fs::path& path) {
    return message_of<Exception>([&] { read_file<Exception>(path, "vocabulary"); });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      result.push_back(entry.path().filename().string());
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  ScratchFolder folder_;
  fs::path path_ = folder_ / "file";
};

TEST_F(File, LimitsTheSize) {
  put_bytes(folder_ / "five", "12345");
  EXPECT_EQ(read_file<InputError>(folder_ / "five", "vocabulary", 5), "12345");
  EXPECT_THAT(message_of<InputError>([&] {
                static_cast<void>(read_file<InputError>(folder_ / "five", "vocabulary", 4));
              }),
              EndsWith("five: larger than 4 bytes, the limit for the vocabulary"));
}

TEST_F(File, WrittenBytesReadBackTheSame) {
  std::string bytes("a\r\n\0\xFF", 5);
  for (int i = 0; i < 200000; ++i) bytes += static_cast<char>(i % 251);
  write_file(path_, bytes);
  EXPECT_EQ(read_file<InputError>(path_, "vocabulary"), bytes);
  write_file(path_, "");
  EXPECT_EQ(read_file<InputError>(path_, "vocabulary"), "");
}

TEST_F(File, WritingReplacesTheFileAndLeavesNoTemporaryFile) {
  write_file(path_, "old");
  const fs::path kept = folder_ / "kept";
  fs::create_hard_link(path_, kept);
  write_file(path_, "new");
  EXPECT_EQ(bytes_of(path_), "new");
  EXPECT_EQ(bytes_of(kept), "old") << "overwrote the old file in place";
  EXPECT_THAT(names(), ElementsAre("file", "kept"));
}

TEST_F(File, WritingKeepsOtherFiles) {
  const auto part = "file.part-" + std::to_string(::getpid());
  for (const auto& name : {std::string("file.tmp"), part, part + "-1"}) {
    put_bytes(folder_ / name, "mine");
  }
  write_file(path_, "new");
  EXPECT_EQ(bytes_of(path_), "new");
  EXPECT_THAT(names(), ElementsAre("file", part, part + "-1", "file.tmp"));
  EXPECT_EQ(bytes_of(folder_ / part), "mine");
  EXPECT_EQ(bytes_of(folder_ / "file.tmp"), "mine");
}

TEST_F(File, ReplacementsAreIndependentAndKeepThePermissions) {
  put_bytes(path_, "old");
  const auto own = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path_, own);
  {
    FileReplacement first(path_), second(path_), abandoned(path_);
    write_all(first.descriptor(), "first", path_);
    write_all(second.descriptor(), "second", path_);
    write_all(abandoned.descriptor(), "abandoned", path_);
    EXPECT_EQ(bytes_of(path_), "old");
    second.commit();
    EXPECT_EQ(bytes_of(path_), "second");
    EXPECT_EQ(fs::status(path_).permissions(), own);
    first.commit();
  }
  EXPECT_EQ(bytes_of(path_), "first");
  EXPECT_EQ(fs::status(path_).permissions(), own);
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(File, ANameThatIsTooLongIsAnErrorBeforeTheFirstByte) {
  const auto path = folder_ / std::string(250, 'x');  // the temporary name exceeds 255 bytes
  EXPECT_THAT(message_of<EnvironmentError>([&] { FileReplacement file(path); }),
              EndsWith("x: cannot be written (File name too long)"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(File, DoesNotReplaceAFolder) {
  fs::create_directories(path_ / "below");
  EXPECT_THAT(message_of<EnvironmentError>([&] { write_file(path_, "new"); }),
              StartsWith(path_.string() + ": cannot be replaced ("));
  EXPECT_TRUE(fs::is_directory(path_ / "below"));
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(File, WritingToAMissingFolderIsAnError) {
  EXPECT_THAT(message_of<EnvironmentError>([&] { write_file(folder_ / "none/file", ""); }),
              EndsWith("none/file: cannot be written (No such file or "
                       "directory)"));
}

TEST_F(File, WriteErrorNamesPathAndReason) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  EXPECT_EQ(message_of<EnvironmentError>([&] { write_all(full, "x", "a/b"); }),
            "a/b: cannot be written (No space left on device)");
  EXPECT_NO_THROW(write_all(full, "", "a/b"));
  ::close(full);
}

TEST_F(File, MissingFileIsNamedWithItsRole) {
  EXPECT_EQ(error_of(path_), path_.string() + ": no such file; expected the vocabulary");
}

TEST_F(File, ReadingAFolderIsAnError) {
  EXPECT_EQ(error_of(folder_.path()),
            folder_.path().string() + ": found a folder, expected a file (the vocabulary)");
}

TEST_F(File, OpenErrorNamesTheReason) {
  fs::create_symlink("file", path_);  // to itself
  EXPECT_EQ(error_of(path_), path_.string() +
                                 ": the vocabulary cannot be read (Too many levels of symbolic "
                                 "links)");
}

TEST_F(File, PermissionErrorIsNotReportedAsMissing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write_file(path_, "secret");
  fs::permissions(folder_.path(), fs::perms::none);
  const auto message = error_of(path_);
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_EQ(message, path_.string() + ": the vocabulary cannot be read (Permission denied)");
}

TEST_F(File, ReadErrorIsNotTheEndOfTheFile) {
  EXPECT_EQ(error_of("/proc/self/mem"), "/proc/self/mem: reading the vocabulary failed");
}

TEST_F(File, ThrowsTheRequestedClass) {
  const std::string missing = path_.string() + ": no such file; expected the vocabulary";
  EXPECT_EQ(error_of<ConfigError>(path_), missing);
  EXPECT_EQ(error_of<CheckpointError>(path_), missing);
  EXPECT_EQ(error_of<EnvironmentError>(path_), missing);
  try {
    read_file<CheckpointError>(path_, "vocabulary");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::checkpoint);
  }
}

TEST_F(File, WritesIntoAFolderThatItMayNotRead) {
  fs::permissions(folder_.path(), fs::perms(0333));
  const auto user = ::setfsuid(65534);  // root may read everything
  EXPECT_NO_THROW(write_file(path_, "new"));
  EXPECT_NO_THROW(make_folder(folder_ / "a/b"));
  ::setfsuid(static_cast<uid_t>(user));
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_EQ(bytes_of(path_), "new");
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b"));
}

TEST_F(File, CreatesFoldersWithParents) {
  make_folder(folder_ / "a/b/c");
  make_folder(folder_ / "a/b/c");
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b/c"));
}

TEST_F(File, DoesNotCreateAFolderOverAFile) {
  write_file(path_, "");
  EXPECT_THAT(message_of<EnvironmentError>([&] { make_folder(path_); }),
              StartsWith(path_.string() + ": cannot create the folder ("));
  EXPECT_THAT(message_of<EnvironmentError>([&] { make_folder(path_ / "below"); }),
              HasSubstr("cannot create the folder (Not a directory)"));
}

}  // namespace
}  // namespace regard::file_test
