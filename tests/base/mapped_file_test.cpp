#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::mapped_file_test {
namespace {

TEST(MappedFile, HasTheBytesOfTheFileAlsoAfterAMove) {
  const ScratchFolder folder;
  const std::string bytes(20'000, 'x');
  put_bytes(folder / "file", bytes);
  MappedFile file(folder / "file");
  const MappedFile moved(std::move(file));
  EXPECT_EQ(moved.bytes(), bytes);
  put_bytes(folder / "empty", "");
  EXPECT_EQ(MappedFile(folder / "empty").bytes(), "");
}

TEST(MappedFile, AMissingFileOrAFolderIsAnInputError) {
  const ScratchFolder folder;
  EXPECT_THROW(MappedFile(folder / "missing"), InputError);
  EXPECT_THROW(MappedFile(folder / "."), InputError);
}

}  // namespace
}  // namespace regard::mapped_file_test
