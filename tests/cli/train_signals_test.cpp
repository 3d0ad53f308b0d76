// regard train: signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/cli/train.h"

namespace regard::train_signals_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// Starts a training of a million steps and sends it signals. `redirect` redirects its messages.
class TrainSignals : public Train {
 protected:
  // Returns the exit code of a script. Kills a training in it after a minute of CPU time.
  static int bash(const std::string& script) {
    return WEXITSTATUS(std::system(("bash -c 'ulimit -t 60; " + script + "'").c_str()));
  }
  int train_and_send(const std::string& signal, const std::string& redirect,
                     const std::string& then = "") const {
    // A shell without a terminal starts background jobs with SIGINT ignored.
    const auto script = "env --default-signal=INT,HUP " + std::string(REGARD_BINARY_DIR) +
                        "/regard train -c " + config_.string() + " training.max_steps=1000000 " +
                        redirect + " & pid=$!; until grep -q step " +
                        (folder_ / "run" / "train.jsonl").string() +
                        " 2>/dev/null || ! kill -0 $pid; do sleep 0.01; done; kill -" + signal +
                        " $pid; " + then + " wait $pid";
    return bash(script);
  }
};

TEST_F(TrainSignals, SaveAndExitWithTheirCode) {
  const auto messages = folder_ / "messages";
  for (const auto& [signal, code] :
       {std::pair("TERM", 143), std::pair("INT", 130), std::pair("HUP", 129)}) {
    fs::remove_all(folder_ / "run");
    EXPECT_EQ(train_and_send(signal, "2>" + messages.string()), code) << signal;
    EXPECT_TRUE(fs::exists(folder_ / "run" / "last" / "training.safetensors")) << signal;
    EXPECT_THAT(read_text(messages), AllOf(HasSubstr("Stopping after"), HasSubstr(signal)));
    EXPECT_THAT(run({"info", (folder_ / "run").string()}).out,
                AllOf(HasSubstr("stopped  at step"), HasSubstr(signal)));
  }
}

TEST_F(TrainSignals, SaveRequestContinuesTraining) {
  const auto messages = folder_ / "messages";
  const auto then = "until grep -q SIGUSR1 " + messages.string() +
                    " || ! kill -0 $pid; do sleep 0.01; done; test -e " +
                    (folder_ / "run" / "last" / "training.safetensors").string() +
                    " && kill -0 $pid && kill $pid;";
  EXPECT_EQ(
      train_and_send("USR1", "training.validation_every=1000000 2>" + messages.string(), then),
      143);
  EXPECT_THAT(read_text(messages), HasSubstr("saved at step"));
}

TEST_F(TrainSignals, IgnoredSignalsStayIgnored) {
  const auto command = std::string(REGARD_BINARY_DIR) + "/regard train -q -c " + config_.string() +
                       " training.max_steps=1000000 2>/dev/null";
  const auto script = "trap \"\" HUP INT; " + command + " & pid=$!; until grep -q step " +
                      (folder_ / "run" / "train.jsonl").string() +
                      " 2>/dev/null || ! kill -0 $pid; do sleep 0.01; done; kill -HUP $pid; "
                      "kill -INT $pid; sleep 0.2; kill -0 $pid || exit 1; kill $pid; wait $pid";
  EXPECT_EQ(bash(script), 143);
}

// The first step takes many seconds: an epoch of thousands of batches is one update.
TEST_F(TrainSignals, SecondSignalEndsAtOnce) {
  const auto messages = (folder_ / "messages").string();
  const auto script = "env --default-signal=INT,HUP " + std::string(REGARD_BINARY_DIR) +
                      "/regard train -c " + config_.string() +
                      " data.train.0.weight=1000 training.gradient_accumulation=1000000 2>" +
                      messages + " & pid=$!; until grep -q output_weight " + messages +
                      " || ! kill -0 $pid; do sleep 0.01; done; sleep 1; kill -INT $pid; "
                      "sleep 0.5; kill -0 $pid || exit 1; kill -INT $pid; sleep 0.5; "
                      "kill -0 $pid && exit 2; wait $pid";
  EXPECT_EQ(bash(script), 130) << "1: one signal was enough; 2: two were not";
  EXPECT_EQ(train({"--dry-run"}).code, 0);
}

TEST_F(TrainSignals, EarlySaveRequestContinuesTraining) {
  const auto script = std::string(REGARD_BINARY_DIR) + "/regard-torch train -c " +
                      config_.string() + " 2>/dev/null & pid=$!; until [ -e " +
                      (folder_ / "run" / ".lock").string() +
                      " ] || ! kill -0 $pid; do :; done; "
                      "for i in 1 2 3 4 5 6 7 8 9 10; do kill -USR1 $pid; done; wait $pid";
  EXPECT_EQ(bash(script), 0);
}

// Signals before LibTorch is loaded must not end the training. They are sent from the moment on at
// which the program ignores SIGUSR1, bit 9 of SigIgn: before, the system loads it.
TEST_F(TrainSignals, SaveRequestWhileLoadingContinuesTraining) {
  const auto script = "for wait in 0 0.02 0.05 0.1 0.15 0.2; do " + std::string(REGARD_BINARY_DIR) +
                      "/regard train --fresh -c " + config_.string() +
                      " training.max_steps=1 2>/dev/null & pid=$!; "
                      "until grep -qs 'SigIgn:.*[2367abef]..$' /proc/$pid/status || "
                      "! kill -0 $pid; do :; done; sleep $wait; "
                      "kill -USR1 $pid; wait $pid || exit $?; done";
  EXPECT_EQ(bash(script), 0);
}

TEST_F(TrainSignals, ClosedMessagePipeDoesNotStopTraining) {
  EXPECT_EQ(train_and_send("TERM", "2> >(head -n 1 >/dev/null)"), 143);
  EXPECT_THAT(read_text(folder_ / "run" / "train.log"), HasSubstr("Stopped at step"));
}

// A validation of some seconds: the translations have the maximum length.
class TrainValidationSignals : public TrainSignals {
 protected:
  static constexpr const char* slow =
      "training.validation_every=20 training.max_steps=40 training.moving_average=0.9 "
      "search.validation_beam_size=5 search.max_output_length=1500 "
      "search.min_output_length=1499 "
      "search.max_output_ratio=0";

  std::string command(const std::string& run_name) const {
    return std::string(REGARD_BINARY_DIR) + "/regard train -c " + config_.string() + " " + slow +
           " training.model_dir=" + (folder_ / run_name).string();
  }
  // Starts the run, sends the signal 0.2 s after the begin of its first validation, and waits.
  // Returns the exit code and stores the time from the signal to the end in `seconds`.
  int signal_in_validation(const std::string& run_name, const std::string& signal,
                           double* seconds = nullptr) const {
    const auto times = folder_ / "times";
    const auto script = command(run_name) + " 2>" + (folder_ / "messages").string() +
                        " & pid=$!; until [ -e " + (folder_ / run_name / "last").string() +
                        " ] || ! kill -0 $pid; do sleep 0.01; done; sleep 0.2; date +%s.%N >" +
                        times.string() + "; kill -" + signal +
                        " $pid; wait $pid; code=$?; date +%s.%N >>" + times.string() +
                        "; exit $code";
    const int code = bash(script);
    const auto lines = lines_of(read_text(times));
    if (seconds != nullptr) *seconds = std::stod(lines.at(1)) - std::stod(lines.at(0));
    return code;
  }
  std::string outcome(const std::string& run_name) const {
    std::string bytes;
    const auto run_folder = folder_ / run_name;
    for (const auto* file : {"last/model.safetensors", "last/training.safetensors",
                             "validation/step-00000020.txt", "validation/step-00000040.txt"}) {
      bytes += read_text(run_folder / file);
    }
    for (const auto& line : lines_of(read_text(run_folder / "validations.tsv"))) {
      std::size_t end = 0;  // of step, epoch, loss, perplexity, BLEU, chrF
      for (int column = 0; column < 6; ++column) end = line.find('\t', end) + 1;
      bytes += line.substr(0, end) + "\n";
    }
    return bytes + fs::read_symlink(run_folder / "best").string();
  }
};

TEST_F(TrainValidationSignals, StopWithinTwoSecondsAndRepeatTheValidation) {
  ASSERT_EQ(bash(command("straight") + " 2>/dev/null"), 0);
  double seconds = 0;
  EXPECT_EQ(signal_in_validation("run", "TERM", &seconds), 143);
  EXPECT_LT(seconds, 2);
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "last").filename(), "step-00000020");
  EXPECT_EQ(lines_of(read_text(folder_ / "run" / "validations.tsv")).size(), 1u) << "too late";
  EXPECT_THAT(read_text(folder_ / "run" / "last" / "training.json"),
              HasSubstr("\"pending_validation\": true"));
  ASSERT_EQ(bash(command("run") + " 2>/dev/null"), 0);
  EXPECT_TRUE(outcome("run") == outcome("straight"));
}

TEST_F(TrainValidationSignals, SaveRequestIsConfirmedAfterTheValidation) {
  EXPECT_EQ(signal_in_validation("run", "USR1"), 0);
  EXPECT_THAT(read_text(folder_ / "messages"), HasSubstr("saved at step 20 (SIGUSR1)"));
}

TEST_F(TrainValidationSignals, KillInAValidationLosesNoStep) {
  ASSERT_EQ(bash(command("straight") + " 2>/dev/null"), 0);
  EXPECT_EQ(signal_in_validation("run", "KILL"), 137);
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "last").filename(), "step-00000020");
  ASSERT_EQ(bash(command("run") + " 2>/dev/null"), 0);
  EXPECT_TRUE(outcome("run") == outcome("straight"));
}

TEST_F(TrainValidationSignals, LastValidationIsRepeatedAfterASignal) {
  const auto arguments = " training.validation_every=1000 training.max_steps=20";
  const auto script = command("run") + arguments + " 2>/dev/null & pid=$!; until [ -e " +
                      (folder_ / "run" / "last").string() +
                      " ] || ! kill -0 $pid; do sleep 0.01; done; sleep 0.2; kill $pid; wait $pid";
  EXPECT_EQ(bash(script), 143);
  EXPECT_EQ(lines_of(read_text(folder_ / "run" / "validations.tsv")).size(), 1u) << "too late";
  EXPECT_EQ(bash(command("run") + arguments + " 2>/dev/null"), 0);
  EXPECT_EQ(lines_of(read_text(folder_ / "run" / "validations.tsv")).size(), 2u);
}

// The run folder is moved or deleted during training.
class TrainWithoutItsFolder : public TrainSignals {
 protected:
  int train_and(const std::string& act) const {
    const auto script = std::string(REGARD_BINARY_DIR) + "/regard train -c " + config_.string() +
                        " training.max_steps=1000000 training.save_every=5 2>" +
                        (folder_ / "messages").string() + " & pid=$!; until [ -e " +
                        (folder_ / "run" / "last").string() +
                        " ] || ! kill -0 $pid; do sleep 0.01; done; " + act + "; wait $pid";
    return bash(script);
  }
};

TEST_F(TrainWithoutItsFolder, StopsAndCreatesNothing) {
  const auto run_folder = (folder_ / "run").string();
  EXPECT_EQ(train_and("mv " + run_folder + " " + (folder_ / "moved").string()), 6);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  EXPECT_THAT(read_text(folder_ / "messages"), HasSubstr("moved or deleted"));
  // A save during the deletion may fail at a file that is gone, with another message.
  EXPECT_EQ(train_and("until rm -rf " + run_folder + "; do :; done"), 6);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  // The moved run is intact and resumes at its new place.
  EXPECT_EQ(train({"training.model_dir=" + (folder_ / "moved").string(), "--dry-run",
                   "training.max_steps=1000000", "training.save_every=5"})
                .code,
            0);
}

TEST_F(TrainWithoutItsFolder, DoesNotTouchAnotherFolderInItsPlace) {
  const auto run_folder = (folder_ / "run").string();
  EXPECT_EQ(
      train_and("mv " + run_folder + " " + (folder_ / "moved").string() + "; mkdir " + run_folder),
      6);
  EXPECT_TRUE(fs::is_empty(folder_ / "run"));
}

}  // namespace
}  // namespace regard::train_signals_test
