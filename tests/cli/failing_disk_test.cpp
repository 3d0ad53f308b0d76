// If any write of a checkpoint fails, training reports it and loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard::failing_disk_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FailingDisk : public Train {
 protected:
  // Trains to step 40 with a checkpoint every 10 steps. The n-th write below checkpoints/ fails.
  int train_with(long n, int error) const {
    const auto command =
        "LD_PRELOAD=" REGARD_FAILING_DISK " FAIL_BELOW=/checkpoints/ FAIL_AT=" + std::to_string(n) +
        " FAIL_WITH=" + std::to_string(error) + " " + REGARD_BINARY_DIR + "/regard train -c " +
        config_.string() + " " + options_[0] + " " + options_[1] + " 2>" + messages_.string();
    return WEXITSTATUS(std::system(command.c_str()));
  }

  const std::vector<std::string> options_ = {"training.max_steps=40", "training.save_every=10"};
  const fs::path messages_ = folder_ / "messages";
};

TEST_F(FailingDisk, EveryFailedWriteIsReportedAndTheRunResumes) {
  ASSERT_EQ(train(options_).code, 0);
  const auto straight = weights();
  int failures = 0;
  for (long n = 1;; ++n) {
    fs::remove_all(folder_ / "run");
    const int error = n % 2 == 0 ? ENOSPC : EIO;
    const int code = train_with(n, error);
    if (code == 0) break;  // there are fewer writes
    ++failures;
    ASSERT_EQ(code, 6) << "write " << n << ": " << read_text(messages_);
    ASSERT_THAT(read_text(messages_), HasSubstr("cannot be written"));
    ASSERT_EQ(train(options_).code, 0) << "write " << n;
    ASSERT_EQ(weights(), straight) << "write " << n;
    n += n / 4;  // the first ones each, then fewer
  }
  EXPECT_GE(failures, 10);
}

TEST_F(FailingDisk, AFileSystemWithoutLinksIsWarnedOfOnce) {
  ASSERT_EQ(train(options_).code, 0);
  const auto straight = weights();
  fs::remove_all(folder_ / "run");
  const auto command = "LD_PRELOAD=" REGARD_FAILING_DISK " FAIL_LINKS=" + std::to_string(EPERM) +
                       " " + REGARD_BINARY_DIR + "/regard train -c " + config_.string() +
                       " training.save_every=10 2>" + messages_.string() + " training.max_steps=";
  for (const std::string end : {"20", "40"}) {  // the second resumes
    ASSERT_EQ(std::system((command + end).c_str()), 0) << read_text(messages_);
    const auto messages = read_text(messages_);
    const std::string warning = "has no symbolic links";
    ASSERT_THAT(messages, HasSubstr(warning));
    EXPECT_EQ(messages.find(warning, messages.find(warning) + 1), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(folder_ / "run" / "last"));
  EXPECT_EQ(read_text(folder_ / "run" / "checkpoints" / "last"), "step-00000040\n");
  EXPECT_EQ(read_text(folder_ / "run/checkpoints/step-00000040/model.safetensors"), straight);
  const auto translated = run({"translate", "-m", (folder_ / "run").string()}, "the cat\n");
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_THAT(translated.err, HasSubstr("found neither `best` nor `last`"));
}

}  // namespace
}  // namespace regard::failing_disk_test
