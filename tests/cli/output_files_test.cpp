// What becomes of the files that a command writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <iterator>

#include "tests/cli/run.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

TEST(OutputFiles, ASignalLeavesNothingAside) {
  const auto folder = fresh_folder();
  Running translating(
      {"translate", "-m", tiny_model().string(), "--alignments", (folder / "alignments").string()});
  translating.write("the cat\n");
  ASSERT_TRUE(translating.read_line());
  EXPECT_EQ(files_in(folder), 1);  // aside, until it is whole
  translating.send(SIGTERM);
  EXPECT_EQ(translating.finish().code, 128 + SIGTERM);
  EXPECT_EQ(files_in(folder), 0);
}

TEST(OutputFiles, AFileThatIsReplacedKeepsItsPermissions) {
  const auto folder = fresh_folder();
  const auto path = folder / "out";
  write_text(path, "secret\n");
  const auto own = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path, own);
  ASSERT_EQ(run({"translate", "-m", tiny_model().string(), "-o", path.string()}, "the cat\n").code,
            0);
  EXPECT_EQ(fs::status(path).permissions(), own);
}

TEST(OutputFiles, JsonIsUtf8WhateverAFileIsCalled) {
  const auto folder = fresh_folder();
  const auto path = folder / "h\xFF";
  write_text(path, "a b c\n");
  const auto finished = run({"evaluate", "--hypotheses", path.string(), path.string(), "-r",
                             path.string(), "--json", "--force"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("h\uFFFD"));
}

}  // namespace
}  // namespace regard
