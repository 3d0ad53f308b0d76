#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/process.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::mapped_file_test {
namespace {

namespace fs = std::filesystem;

class MappedFileDeathTest : public testing::Test {
 protected:
  MappedFileDeathTest() { put_bytes(path_, std::string(20'000, 'x')); }

  const ScratchFolder folder_;  // of this test alone: another may run beside it
  const fs::path path_ = folder_ / "mapped_file_test";
};

TEST_F(MappedFileDeathTest, AnAddressInAMappedFileLeadsToItsPath) {
  const char* inside = nullptr;
  {
    const MappedFile first(path_);
    const MappedFile moved = [&] { return MappedFile(path_); }();
    inside = moved.bytes().data() + 19'999;
    EXPECT_EQ(path_of_mapped(inside), path_.string());
    EXPECT_EQ(path_of_mapped(&inside), nullptr);
  }
  EXPECT_EQ(path_of_mapped(inside), nullptr);
}

TEST_F(MappedFileDeathTest, AFileThatIsCutWhileItIsReadIsNamed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer handles the signal";
#endif
  const auto read_after_cut = [&] {
    prepare_process();
    const MappedFile file(path_);
    fs::resize_file(path_, 0);
    const volatile char* bytes = file.bytes().data();
    std::exit(bytes[10'000] == 'x' ? 0 : 1);
  };
  EXPECT_EXIT(read_after_cut(), testing::ExitedWithCode(3), "error: .*mapped_file_test: was cut");
}

}  // namespace
}  // namespace regard::mapped_file_test
