// Limits of the system: threads, memory, file size and processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/train.h"

namespace regard::limits_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Limits : public Train {
 protected:
  // Runs a bash script with empty standard input; $regard is the program.
  Finished bash(const std::string& script) const {
    const auto out = folder_ / "out", err = folder_ / "err";
    const auto command = "exec </dev/null >" + out.string() + " 2>" + err.string() +
                         "; regard=" + REGARD_BINARY_DIR + "/regard; cd " + folder_.string() +
                         "; " + script;
    const int status = std::system(("bash -c '" + command + "'").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out),
            read_text(err)};
  }
  // Returns each command that loads a model, and trainings with and without sub-words.
  std::vector<std::string> commands() const {
    const auto model = tiny_model().string();
    const auto train =
        "train -c config.yaml --fresh training.max_steps=4 "
        "training.validation_every=2 training.logging_every=2 ";
    return {"info " + model,
            "average " + model + " " + model + " -o mean",
            "translate -m " + model + " -i dev.en -o translation --threads 2",
            "evaluate -m " + model + " -s dev.en -r dev.fr --threads 2",
            "score -m " + model + " -s dev.en -t dev.fr --threads 2",
            std::string(train) + "threads=2",
            std::string(train) + "data.tokenizer.kind=bpe data.tokenizer.vocabulary_size=30",
            std::string(train) + "data.tokenizer.kind=unigram data.tokenizer.vocabulary_size=30"};
  }
  void expect_environment_error(const Finished& finished, const std::string& what) const {
    EXPECT_EQ(finished.code, 6) << what << ": " << finished.err;
    EXPECT_THAT(finished.err, AllOf(HasSubstr("error: "), Not(HasSubstr("unexpected")),
                                    Not(HasSubstr("terminate"))))
        << what;
  }
};

TEST_F(Limits, FailureToStartAThreadIsAnEnvironmentError) {
  for (const auto& command : commands()) {
    for (int n = 1;; ++n) {
      ASSERT_LT(n, 40) << command;
      const auto finished =
          bash("LD_PRELOAD=" REGARD_FAILING_THREADS " FAIL_AT=" + std::to_string(n) + " $regard " +
               command);
      if (finished.code == 0) break;  // it starts fewer
      expect_environment_error(finished, command + ", thread " + std::to_string(n));
      EXPECT_THAT(finished.err, HasSubstr("threads")) << command;
    }
  }
}

// A weight of 120 GB, with much memory left for everything before it.
TEST_F(Limits, AnAllocationAboveTheMemoryLimitIsAnEnvironmentError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes all addresses";
#endif
  const auto finished = bash(
      "ulimit -v 33554432; exec $regard train -c config.yaml device=cpu "
      "model.decoder.hidden_size=100000");
  expect_environment_error(finished, "train");
  EXPECT_THAT(finished.err, HasSubstr("not enough memory"));
}

TEST_F(Limits, FileSizeLimitLeavesNothingBehind) {
  const auto model = tiny_model().string();
  std::string text;
  for (int i = 0; i < 100; ++i) text += read_text(folder_ / "dev.en");
  write_text(folder_ / "text", text);
  const auto files = [&] { return std::distance(fs::directory_iterator(folder_), {}); };
  bash("true");  // makes the files of its messages
  const auto before = files();
  const auto limited = "ulimit -f 8; $regard ";
  for (const auto* command : {"translate -i text -o long", "score -s text -t text -o long"}) {
    const auto finished = bash(limited + std::string(command) + " -m " + model);
    expect_environment_error(finished, command);
    EXPECT_THAT(finished.err, HasSubstr("long: cannot be written (File too large)"));
    EXPECT_EQ(files(), before) << command;
  }
  const auto averaged = bash(limited + ("average " + model) + " " + model + " -o mean");
  expect_environment_error(averaged, "average");
  EXPECT_EQ(files(), before);
  const auto trained = bash(std::string(limited) + "train -c config.yaml");
  expect_environment_error(trained, "train");
  EXPECT_THAT(trained.err, HasSubstr("File too large"));
}

TEST_F(Limits, ThreadsFollowTheUsableProcessors) {
  const auto finished = bash(
      "cpu=$(taskset -cp $$ | sed \"s/.*: \\([0-9]*\\).*/\\1/\"); taskset -c $cpu "
      "$regard train -c config.yaml threads=0 training.max_steps=1");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Training on cpu with 1 thread"));
  const auto more = bash(
      "taskset -c $(taskset -cp $$ | sed \"s/.*: \\([0-9]*\\).*/\\1/\") $regard "
      "info run; taskset -c 0 $regard translate -m run --threads 3");
  EXPECT_THAT(more.err,
              HasSubstr("threads: 3 were asked for, but this process may use 1 processor"));
}

TEST_F(Limits, InvalidDeviceNumberIsAUsageError) {
  const auto model = tiny_model().string();
  for (const auto& [command, device] :
       {std::pair{"translate -i dev.en -m " + model, "cuda:-1"},
        {"evaluate -s dev.en -r dev.fr -m " + model, "cuda:-9999999999"},
        {"score -s dev.en -t dev.fr -m " + model, "cuda:"},
        {"report " + model, "cuda:1x"},
        {std::string("train -c config.yaml"), "gpu"}}) {
    const auto finished = bash("$regard " + command + " --device " + device);
    EXPECT_EQ(finished.code, 2) << command << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("expected auto, cpu, cuda or cuda:N"));
  }
}

}  // namespace
}  // namespace regard::limits_test
