// regard train by several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/train_together.h"

namespace regard::train_together_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(TrainTogether, LearnsLikeOneProcessWithAllThreads) {
  const Words arguments = {"training.precision=fp32",         "training.max_steps=40",
                           "training.logging_every=1",        "training.validation_every=20",
                           "model.dropout.states=0.3",        "training.moving_average=0.9",
                           "training.gradient_accumulation=2"};
  ASSERT_EQ(train(arguments + Words{"threads=3", "training.model_dir=" + path("alone")}).code, 0);
  const auto processes = train_together(3, arguments);
  for (const auto& process : processes) EXPECT_EQ(process.code, 0) << process.err;
  EXPECT_THAT(processes[0].err, HasSubstr("3 processes train together, with 3 threads in all"));
  EXPECT_THAT(processes[1].err, IsEmpty());  // rank 0 tells what happens
  EXPECT_THAT(processes[2].err, IsEmpty());

  const auto expected = losses("alone");
  const auto found = losses("run");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-4 * expected[i]) << "step " << i + 1;
  }
  EXPECT_EQ(lines_of(read_text(folder_ / "run" / "validations.tsv")).size(), 3);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "best" / "model.safetensors"));
  const auto translated =
      run({"translate", "-m", (folder_ / "run").string(), "-i", (folder_ / "dev.en").string()});
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST_F(TrainTogether, KilledAndResumedRunEndsInTheSameBytes) {
  const std::vector<std::string> same = {"training.max_steps=400", "training.save_every=5",
                                         "training.validation_every=20",
                                         "model.dropout.states=0.3"};
  for (const auto& process : train_together(2, same)) ASSERT_EQ(process.code, 0) << process.err;
  const auto wanted = weights();
  fs::remove_all(folder_ / "run");
  int kills = 0;
  for (const std::string victim : {"0", "1"}) {
    const auto killed =
        train_together(2, same, {}, when_it_trains("kill -9 ${regards[" + victim + "]}\n"));
    const auto& other = killed[victim == "0" ? 1 : 0];
    if (other.code == 0) continue;  // it was already at its end
    ++kills;
    EXPECT_EQ(other.code, 6) << other.err;
    EXPECT_THAT(other.err, AllOf(HasSubstr("another process of this training has ended"),
                                 HasSubstr("start all processes again")));
  }
  EXPECT_GT(kills, 0);
  for (const auto& process : train_together(2, same)) ASSERT_EQ(process.code, 0) << process.err;
  EXPECT_EQ(weights(), wanted);
}

TEST_F(TrainTogether, SignalToOneProcessStopsAllAndAnotherNumberOfProcessesResumes) {
  const auto stopped = train_together(2, {"training.max_steps=1000000"}, {},
                                      when_it_trains("kill -TERM ${regards[1]}\n"));
  for (const auto& process : stopped) EXPECT_EQ(process.code, 143) << process.err;
  EXPECT_THAT(stopped[0].err, HasSubstr("SIGTERM"));
  const auto steps = parse_json(read_text(folder_ / "run" / "last" / "training.json"))
                         .at("step")
                         .get<std::int64_t>();
  EXPECT_GT(steps, 0);
  for (const std::size_t size : {3, 2}) {
    const auto limit = "training.max_steps=" + std::to_string(steps + 10 * (4 - size));
    const auto resumed = train_together(size, {limit});
    for (const auto& process : resumed) ASSERT_EQ(process.code, 0) << process.err;
    EXPECT_THAT(resumed[0].err, HasSubstr("Resuming from step"));
  }
  const auto last = train({"training.max_steps=" + std::to_string(steps + 30)});
  EXPECT_EQ(last.code, 0) << last.err;
}

// The clocks of the processes differ; the first whose time is up stops all.
TEST_F(TrainTogether, AllStopAtTheSameStepWhenTheTimeIsUp) {
  const auto processes =
      train_together(2, {"training.max_steps=0", "training.max_minutes=0.02"}, {});
  for (const auto& process : processes) ASSERT_EQ(process.code, 0) << process.err;
  EXPECT_THAT(processes[0].err, HasSubstr("training.max_minutes reached (0.02)"));
}

TEST_F(TrainTogether, RequestToSaveReachesRankZero) {
  const auto processes = train_together(
      2, {"training.max_steps=1000000", "training.validation_every=1000000"}, {},
      when_it_trains("kill -USR1 ${regards[1]}\nuntil grep -q SIGUSR1 " +
                     (folder_ / "process0.err").string() +
                     " || ! kill -0 ${pids[0]}; do sleep 0.01; done\nkill -INT ${regards[0]}\n"));
  EXPECT_THAT(processes[0].err, HasSubstr("saved at step"));
  for (const auto& process : processes) EXPECT_EQ(process.code, 130) << process.err;
}

TEST_F(TrainTogether, DifferentConfigurationsAndTextsAreRejectedBeforeTheFirstStep) {
  const auto options = train_together(2, {}, {{1, "training.batch_size=7"}});
  for (const auto& process : options) {
    EXPECT_EQ(process.code, 2);
    EXPECT_THAT(process.err, AllOf(HasSubstr("process 1"), HasSubstr("another configuration"),
                                   HasSubstr("batch_size: 7")));
  }
  const auto text = read_text(folder_ / "train.en");
  write_text(folder_ / "other.en", "other" + text);
  const auto texts =
      train_together(2, {}, {{1, "data.train.0.src=" + (folder_ / "other.en").string()}});
  for (const auto& process : texts) {
    EXPECT_EQ(process.code, 2);
    EXPECT_THAT(process.err, AllOf(HasSubstr("another text"), HasSubstr("data.train.0.src")));
  }
  EXPECT_FALSE(fs::exists(folder_ / "run" / "last"));
}

TEST_F(TrainTogether, PreparedCorporaAreSharedAndCompared) {
  const auto prepared = (folder_ / "prepared").string();
  const auto made = run({"prepare", "-c", config_.string(), "-o", prepared});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string use = "data.prepared=" + prepared;
  for (const auto& process : train_together(2, {use, "training.max_steps=20"})) {
    EXPECT_EQ(process.code, 0) << process.err;
  }
  EXPECT_TRUE(fs::exists(folder_ / "run" / "last" / "model.safetensors"));

  const auto text = read_text(folder_ / "train.en");
  write_text(folder_ / "train.en", "more " + text);
  const auto other = (folder_ / "other").string();
  ASSERT_EQ(run({"prepare", "-c", config_.string(), "-o", other}).code, 0);
  fs::remove_all(folder_ / "run");
  for (const auto& process : train_together(2, {use}, {{1, "data.prepared=" + other}})) {
    EXPECT_EQ(process.code, 2) << process.err;
    EXPECT_THAT(process.err, HasSubstr("process 1"));
  }
}

TEST_F(TrainTogether, ErrorOfOneProcessEndsAllAndEachNamesItsRank) {
  const auto processes =
      train_together(2, {}, {{1, "data.train.0.src=" + (folder_ / "missing.en").string()}});
  EXPECT_EQ(processes[0].code, 6);
  EXPECT_THAT(processes[0].err, AllOf(HasSubstr("error: process 0 of 2: "),
                                      HasSubstr("another process of this training has ended")));
  EXPECT_EQ(processes[1].code, 3);
  EXPECT_THAT(processes[1].err,
              AllOf(HasSubstr("error: process 1 of 2: "), HasSubstr("missing.en")));
}

TEST_F(TrainTogether, AFirstProcessThatNoLongerAnswersEndsTheOthers) {  // takes 50 seconds
  const auto processes =
      train_together(2, {"training.max_steps=1000000"}, {},
                     when_it_trains("kill -STOP ${regards[0]}\n"
                                    "while kill -0 ${pids[1]} 2>/dev/null; do sleep 1; done\n"
                                    "kill -KILL ${regards[0]}"));
  EXPECT_EQ(processes[1].code, 6);
  EXPECT_THAT(processes[1].err, HasSubstr("has been silent for 45 seconds"));
}

TEST_F(TrainTogether, EverythingButTrainingIgnoresTheVariables) {
  const auto model = tiny_model().string();  // trained before there are variables
  setenv("WORLD_SIZE", "2", 1);
  setenv("RANK", "1", 1);
  const auto translated = run({"translate", "-m", model, "-i", path("dev.en")});
  const auto incomplete = train();
  unsetenv("WORLD_SIZE");
  unsetenv("RANK");
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(incomplete.code, 2);
  EXPECT_THAT(incomplete.err, HasSubstr("MASTER_ADDR is not set"));
}

}  // namespace
}  // namespace regard::train_together_test
