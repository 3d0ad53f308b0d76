#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::manifest_test {
namespace {

using testing::HasSubstr;

TEST(ChecksummedFile, ReturnsSizeAndHashOfTheWrittenBytes) {
  const ScratchFolder scratch;
  ChecksummedFile file(scratch / "t");
  file.append("ab");
  file.append("c");
  const auto checksum = file.close();
  EXPECT_EQ(bytes_of(scratch / "t"), "abc");
  EXPECT_EQ(checksum.size, 3u);
  EXPECT_EQ(checksum.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(checksum, checksum_of(scratch / "t"));
}

TEST(ChecksummedFile, AFullDiskIsAnEnvironmentError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THAT(message_of<EnvironmentError>([] { ChecksummedFile("/dev/full").append("x"); }),
              HasSubstr("/dev/full: cannot be written (No space left"));
}

}  // namespace
}  // namespace regard::manifest_test
