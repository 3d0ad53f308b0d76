// regard train: what signals do to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/cli/train.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// A training of a million steps, sent `signal` once it is at work; `redirect` says where its
// messages go.
class TrainSignals : public Train {
 protected:
  // The exit code of a script; a training in it that does not end is killed after a minute's work.
  static int bash(const std::string& script) {
    return WEXITSTATUS(std::system(("bash -c 'ulimit -t 60; " + script + "'").c_str()));
  }
  int train_and_send(const std::string& signal, const std::string& redirect,
                     const std::string& then = "") const {
    // A shell without a terminal has what it begins in the background ignore SIGINT.
    const auto script = "env --default-signal=INT,HUP " + std::string(REGARD_BINARY_DIR) +
                        "/regard train -c " + config_.string() + " training.max_steps=1000000 " +
                        redirect + " & pid=$!; until grep -q step " +
                        (folder_ / "run" / "train.jsonl").string() +
                        " 2>/dev/null || ! kill -0 $pid; do sleep 0.01; done; kill -" + signal +
                        " $pid; " + then + " wait $pid";
    return bash(script);
  }
};

TEST_F(TrainSignals, SaveAndLeaveWithTheirOwnCode) {
  const auto messages = folder_ / "messages";
  for (const auto& [signal, code] :
       {std::pair("TERM", 143), std::pair("INT", 130), std::pair("HUP", 129)}) {
    fs::remove_all(folder_ / "run");
    EXPECT_EQ(train_and_send(signal, "2>" + messages.string()), code) << signal;
    EXPECT_TRUE(fs::exists(folder_ / "run" / "last" / "training.safetensors")) << signal;
    EXPECT_THAT(read_text(messages), AllOf(HasSubstr("Stopping:"), HasSubstr(signal)));
    EXPECT_THAT(run({"info", (folder_ / "run").string()}).out,
                AllOf(HasSubstr("stopped  at step"), HasSubstr(signal)));
  }
}

TEST_F(TrainSignals, SaveAndGoOnWhenAskedTo) {
  const auto messages = folder_ / "messages";
  const auto then = "until grep -q SIGUSR1 " + messages.string() +
                    "; do sleep 0.01; done; test -e " +
                    (folder_ / "run" / "last" / "training.safetensors").string() +
                    " && kill -0 $pid && kill $pid;";
  EXPECT_EQ(
      train_and_send("USR1", "training.validation_every=1000000 2>" + messages.string(), then),
      143);
  EXPECT_THAT(read_text(messages), HasSubstr("saved at step"));
}

TEST_F(TrainSignals, WhatIsIgnoredFromTheStartStaysIgnored) {
  const auto command = std::string(REGARD_BINARY_DIR) + "/regard train -q -c " + config_.string() +
                       " training.max_steps=1000000 2>/dev/null";
  const auto script = "trap \"\" HUP INT; " + command + " & pid=$!; until grep -q step " +
                      (folder_ / "run" / "train.jsonl").string() +
                      " 2>/dev/null || ! kill -0 $pid; do sleep 0.01; done; kill -HUP $pid; "
                      "kill -INT $pid; sleep 0.2; kill -0 $pid || exit 1; kill $pid; wait $pid";
  EXPECT_EQ(bash(script), 143);
}

TEST_F(TrainSignals, ASecondOneEndsAtOnceAndHarmsNothing) {
  const auto then = "kill -INT $pid 2>/dev/null;";
  const auto code = train_and_send("INT", "training.save_every=1 2>/dev/null", then);
  EXPECT_EQ(code, 130);
  EXPECT_EQ(train({"--dry-run", "training.max_steps=1000000", "training.save_every=1"}).code, 0);
}

TEST_F(TrainSignals, AskedToSaveBeforeThereIsAnythingItGoesOn) {
  const auto script = std::string(REGARD_BINARY_DIR) + "/regard-torch train -c " +
                      config_.string() + " 2>/dev/null & pid=$!; until [ -e " +
                      (folder_ / "run" / ".lock").string() +
                      " ] || ! kill -0 $pid; do :; done; "
                      "for i in 1 2 3 4 5 6 7 8 9 10; do kill -USR1 $pid; done; wait $pid";
  EXPECT_EQ(bash(script), 0);
}

TEST_F(TrainSignals, NobodyReadingTheMessagesStopsNothing) {
  EXPECT_EQ(train_and_send("TERM", "2> >(head -n 1 >/dev/null)"), 143);
  EXPECT_THAT(read_text(folder_ / "run" / "train.log"), HasSubstr("Stopped at step"));
}

}  // namespace
}  // namespace regard
