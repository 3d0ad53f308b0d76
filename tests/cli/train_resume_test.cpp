// regard train: resuming runs, and messages about changes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard::train_resume_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using TrainResume = Train;

TEST_F(TrainResume, KilledAndResumedRunEndsInTheSameBytes) {
  const Words same = {"training.max_steps=120",
                      "training.save_every=7",
                      "model.dropout.states=0.3",
                      "training.moving_average=0.9",
                      "training.gradient_accumulation=2",
                      "training.validation_every=20",
                      "data.tokenizer.kind=unigram",
                      "data.tokenizer.sampling=0.5",
                      "data.tokenizer.vocabulary_size=30",
                      "data.hallucination.rate=0.5",
                      "data.hallucination.length=1"};
  ASSERT_EQ(train(same).code, 0);
  const auto into_killed = same + Words{"training.model_dir=" + path("killed")};
  for (const int step : {7, 28, 49}) kill_after_checkpoint(into_killed, "killed", step);
  const auto resumed = train(into_killed);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("Resuming from step"));
  EXPECT_EQ(weights(), weights("killed"));
  const auto scores = [&](const std::string& name) {  // all but the seconds
    std::string kept;
    for (const auto& line : lines_of(read_text(folder_ / name / "validations.tsv"))) {
      std::size_t end = 0;
      for (int column = 0; column < 7; ++column) end = line.find('\t', end) + 1;
      kept += line.substr(0, end) + "\n";
    }
    return kept;
  };
  EXPECT_EQ(scores("run"), scores("killed"));
}

TEST_F(TrainResume, WithANumberOfShardsTheThreadsMayChange) {
  const Words same = {"training.max_steps=20", "training.shards=3", "model.dropout.states=0.3",
                      "training.moving_average=0.9"};
  const auto with = [&](const Words& more) { return train(same + more).code; };
  ASSERT_EQ(with({"threads=1"}), 0);
  const auto model_dir = "training.model_dir=" + (folder_ / "other").string();
  ASSERT_EQ(with({"threads=3", "training.max_steps=9", model_dir}), 0);
  ASSERT_EQ(with({"threads=2", model_dir}), 0);
  EXPECT_EQ(weights(), weights("other"));
  ASSERT_EQ(with({"threads=2", "training.shards=2", "--fresh"}), 0);
  EXPECT_NE(weights(), weights("other"));
}

TEST_F(TrainResume, RaisedLimitContinuesAFinishedRun) {
  ASSERT_EQ(train({"training.max_steps=6"}).code, 0);
  const auto again = train({"training.max_steps=6"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("finished"));
  ASSERT_EQ(train({"training.max_steps=12"}).code, 0);
  const auto continued = weights();
  ASSERT_EQ(train({"--fresh", "training.max_steps=12"}).code, 0);
  EXPECT_EQ(weights(), continued);
}

TEST_F(TrainResume, TimeIsCountedOverAllSessions) {
  const std::vector<std::string> second = {"training.max_steps=0", "training.max_minutes=0.015"};
  const auto first = train(second);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("training.max_minutes reached (0.015)"));
  const auto rows = lines_of(read_text(folder_ / "run" / "validations.tsv"));
  const auto last = fs::read_symlink(folder_ / "run" / "last").filename().string();
  const auto step = std::stoll(last.substr(last.find('-') + 1));
  EXPECT_THAT(rows.back(), StartsWith(std::to_string(step) + "\t"));  // the last step is validated
  const auto again = train(second);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("finished"));
  const auto more = train({"training.max_steps=" + std::to_string(step + 5)});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "last").filename(),
            fmt::format("step-{:08}", step + 5));
}

TEST_F(TrainResume, ChangedMetricReranksEarlierValidations) {
  ASSERT_EQ(train({"training.validation_every=10", "training.max_steps=30"}).code, 0);
  const auto result = train({"training.validation_every=10", "training.max_steps=60",
                             "training.early_stopping_metric=loss", "training.patience=2"});
  ASSERT_EQ(result.code, 0) << result.err;  // the loss falls all the time
  EXPECT_THAT(result.err, HasSubstr("training.max_steps reached (60)"));
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "best").filename(), "step-00000060");
}

TEST_F(TrainResume, DropoutMayChange) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto result = train({"model.dropout.states=0.1", "training.max_steps=2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("model.dropout.states: 0 → 0.1"));
}

TEST_F(TrainResume, SavesTheLastValidationWithItsStep) {
  ASSERT_EQ(train({"training.save_every=30", "training.validation_every=50"}).code, 0);
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "last").filename(), "step-00000060");
  const auto state = read_text(folder_ / "run" / "last" / "training.json");
  EXPECT_THAT(state, HasSubstr("60"));
  const auto rows = lines_of(read_text(folder_ / "run" / "validations.tsv")).size();
  EXPECT_EQ(train({"training.save_every=30", "training.validation_every=50"}).code, 0);
  EXPECT_EQ(lines_of(read_text(folder_ / "run" / "validations.tsv")).size(), rows);
}

TEST_F(TrainResume, SecondCallWithInitFromResumes) {
  const Words arguments = {"--init-from", tiny_model().string(), "training.max_steps=1"};
  ASSERT_EQ(train(arguments).code, 0);
  const auto again = train(arguments);
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("finished"));
}

TEST_F(TrainResume, ChangedDataIsReportedAndRecorded) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  for (const auto* side : {"train.en", "train.fr"}) {
    const auto text = read_text(folder_ / side);
    write_text(folder_ / side, text.substr(text.find('\n') + 1));
  }
  const auto result = train({"training.max_steps=2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("200 lines"), HasSubstr("199")));
  EXPECT_THAT(read_text(folder_ / "run" / "manifest.json"),
              AllOf(HasSubstr("earlier_sessions"), HasSubstr("200"), HasSubstr("199")));
  EXPECT_THAT(read_text(folder_ / "run" / "config.yaml"), HasSubstr("max_steps: 2"));
}

TEST_F(TrainResume, RejectsAnotherOptimizer) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto result = train({"training.optimizer=sgd", "training.max_steps=2"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("training.optimizer"), HasSubstr("sgd")));
}

TEST_F(TrainResume, ResumesACopyWithoutLinks) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto copy = folder_ / "copy";
  fs::copy(folder_ / "run", copy, fs::copy_options::recursive);  // follows links
  ASSERT_TRUE(fs::is_directory(fs::symlink_status(copy / "last")));
  EXPECT_EQ(train({"training.max_steps=2", "training.model_dir=" + copy.string()}).code, 0);
  EXPECT_EQ(fs::read_symlink(copy / "last").filename(), "step-00000002");
}

TEST_F(TrainResume, ResumesACopyWithoutCheckpoints) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto copy = folder_ / "copy";
  fs::copy(folder_ / "run", copy, fs::copy_options::recursive);  // follows links
  fs::remove_all(copy / "checkpoints");
  const auto result = train({"training.max_steps=2", "training.model_dir=" + copy.string()});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("Resuming from step 1 "));
  EXPECT_EQ(fs::read_symlink(copy / "last").filename(), "step-00000002");
  EXPECT_TRUE(fs::exists(copy / "last.copied" / "model.safetensors"));
}

TEST_F(TrainResume, RestoresLinksOfACopy) {
  ASSERT_EQ(train({"training.validation_every=20"}).code, 0);
  fs::path copy = folder_ / "run";
  for (const std::string steps : {"70", "80"}) {
    const auto next = folder_ / ("copy-" + steps);
    fs::copy(copy, next, fs::copy_options::recursive);  // follows links
    copy = next;
    const auto result = train({"training.validation_every=20", "training.max_steps=" + steps,
                               "training.model_dir=" + copy.string()});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(fs::read_symlink(copy / "last").filename(), "step-000000" + steps);
    EXPECT_TRUE(fs::is_symlink(copy / "best"));
    EXPECT_TRUE(fs::exists(copy / "last.copied" / "model.safetensors"));
  }
  ASSERT_EQ(train({"training.validation_every=20", "training.max_steps=70"}).code, 0);
  ASSERT_EQ(train({"training.validation_every=20", "training.max_steps=80"}).code, 0);
  EXPECT_EQ(weights("copy-80"), weights());
}

TEST_F(TrainResume, RecordsChangedSearchOptionsOfAFinishedRun) {
  ASSERT_EQ(train({"training.validation_every=20"}).code, 0);
  const auto state = read_text(folder_ / "run" / "last" / "training.json");
  const auto result = train({"training.validation_every=20", "search.beam_size=4"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("recorded search.beam_size: 3 → 4"));
  for (const auto* file : {"config.yaml", "last/config.yaml", "best/config.yaml"}) {
    EXPECT_THAT(read_text(folder_ / "run" / file), HasSubstr("beam_size: 4")) << file;
  }
  EXPECT_EQ(read_text(folder_ / "run" / "last" / "training.json"), state);
  const auto translated =
      run({"translate", "-m", (folder_ / "run").string(), "-i", (folder_ / "dev.en").string()});
  EXPECT_EQ(translated.code, 0);
  EXPECT_THAT(translated.err, Not(HasSubstr("changed")));  // hashes fit
  const auto again = train({"training.validation_every=20", "search.beam_size=4"});
  EXPECT_THAT(again.err, Not(HasSubstr("beam_size")));
}

TEST_F(TrainResume, AFinishedRunKeepsTheOptionsOfItsLastCheckpoint) {
  ASSERT_EQ(train({"search.beam_size=5"}).code, 0);
  const std::vector<std::string> longer = {"search.beam_size=10", "training.max_steps=70",
                                           "training.learning_rate=10"};
  ASSERT_EQ(train(longer).code, 0);
  ASSERT_EQ(fs::read_symlink(folder_ / "run" / "best").filename(), "step-00000060");
  const auto config = read_text(folder_ / "run" / "config.yaml");
  const auto again = train(longer);  // the best checkpoint has another beam_size
  EXPECT_THAT(again.err, HasSubstr("step-00000060: recorded search.beam_size: 5 → 10"));
  EXPECT_THAT(read_text(folder_ / "run" / "best" / "config.yaml"), HasSubstr("beam_size: 10"));
  EXPECT_EQ(read_text(folder_ / "run" / "config.yaml"), config);
}

TEST_F(TrainResume, EndNamesTheCheckpointThatTranslateUses) {
  const auto first = train({"training.validation_every=20", "training.early_stopping_metric=loss"});
  EXPECT_THAT(first.err,
              HasSubstr("The best validation by loss was at step 60; translate uses that "
                        "checkpoint"));
  // By another metric, an earlier validation without a checkpoint was the best.
  auto state = read_text(folder_ / "run" / "last" / "training.json");
  const auto validations = read_text(folder_ / "run" / "validations.tsv");
  ASSERT_FALSE(fs::exists(folder_ / "run" / "checkpoints" / "step-00000020"));
  const auto second = train({"training.validation_every=20", "training.early_stopping_metric=bleu",
                             "training.learning_rate=1e-12", "training.max_steps=80"});
  const auto best = run({"info", "--json", (folder_ / "run").string()}).out;
  const auto linked = fs::read_symlink(folder_ / "run" / "best").filename().string();
  const auto step = std::to_string(std::stoi(linked.substr(5)));
  EXPECT_THAT(second.err, AllOf(HasSubstr("by bleu was at step"), HasSubstr("step " + step)));
}

TEST_F(TrainResume, WarnsOfAMuchHigherLearningRate) {
  ASSERT_EQ(train({"training.learning_rate=0.001", "training.max_steps=1"}).code, 0);
  const auto higher = train({"training.learning_rate=0.1", "training.max_steps=2"});
  EXPECT_THAT(higher.err, HasSubstr("training.learning_rate: 0.001 → 0.1; 100 times as high"));
  const auto lower = train({"training.learning_rate=0.05", "training.max_steps=3"});
  EXPECT_THAT(lower.err, Not(HasSubstr("times as high")));
}

TEST_F(TrainResume, WarnsOfARisingLoss) {
  const auto result =
      train({"training.learning_rate=30", "training.warmup_steps=0", "training.clip_grad_norm=0",
             "training.optimizer=sgd", "training.logging_every=5"});
  EXPECT_THAT(result.err, AllOf(HasSubstr("the loss has risen from"), HasSubstr("learning_rate")));
}

// The end of a run is validated and logged as any step where both are due. A higher limit continues
// from there and changes nothing of it.
TEST_F(TrainResume, ARunWhoseLimitIsRaisedKeepsTheValidationAndTheLogLineOfItsEnd) {
  const auto until = [&](const std::string& steps, const std::string& name) {
    const auto result =
        train({"training.validation_every=20", "training.logging_every=7", "training.keep_newest=3",
               "training.moving_average=0.9", "training.max_steps=" + steps,
               "training.model_dir=" + (folder_ / name).string()});
    EXPECT_EQ(result.code, 0) << result.err;
  };
  until("70", "straight");
  for (const std::string steps : {"30", "30", "50", "70"}) until(steps, "run");
  EXPECT_EQ(weights(), weights("straight"));

  const auto steps_of = [&](const std::string& name) {
    std::vector<std::int64_t> steps;
    for (const auto& line : lines_of(read_text(folder_ / name))) {
      const auto text = line.starts_with("{") ? line.substr(line.find("\"step\":") + 7) : line;
      if (const auto step = std::atoll(text.c_str()); step > 0) steps.push_back(step);
    }
    return steps;
  };
  EXPECT_THAT(steps_of("run/validations.tsv"), testing::ElementsAre(20, 30, 40, 50, 60, 70));
  EXPECT_THAT(steps_of("straight/validations.tsv"), testing::ElementsAre(20, 40, 60, 70));
  EXPECT_THAT(steps_of("run/train.jsonl"),
              testing::ElementsAre(7, 14, 21, 28, 30, 35, 42, 49, 50, 56, 63, 70));
}

TEST_F(TrainResume, TheValidationOfAnEndCountsForPatience) {
  const Words impatient = {"training.validation_every=20", "training.patience=1",
                           "training.early_stopping_metric=loss", "training.learning_rate=1e-12"};
  ASSERT_EQ(train(impatient + Words{"training.max_steps=30"}).code, 0);
  const auto raised = train(impatient + Words{"training.max_steps=100"});
  EXPECT_EQ(raised.code, 0);
  EXPECT_THAT(raised.err, HasSubstr("no better loss in 1 validation"));
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "last").filename(), "step-00000030");
}

TEST_F(TrainResume, AFinishedRunStaysFinishedAndItsBestLinkIsSetAgain) {
  ASSERT_EQ(train({"training.validation_every=20", "training.max_steps=50",
                   "training.early_stopping_metric=loss"})
                .code,
            0);
  const std::vector<std::string> impatient = {
      "training.validation_every=20", "training.max_steps=500", "training.patience=1",
      "training.early_stopping_metric=loss", "training.learning_rate=1e-12"};
  const auto rows = [&] { return lines_of(read_text(folder_ / "run" / "validations.tsv")).size(); };
  ASSERT_EQ(train(impatient).code, 0);
  const auto ended = rows();
  fs::remove(folder_ / "run" / "best");
  const auto again = train(impatient);
  EXPECT_THAT(again.err, HasSubstr("finished"));
  EXPECT_EQ(rows(), ended);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "best"));
}

TEST_F(TrainResume, ReportsAMovedEndOfTheCosine) {
  ASSERT_EQ(train({"training.scheduling=cosine", "training.max_steps=2"}).code, 0);
  const auto result = train({"training.scheduling=cosine", "training.max_steps=4"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("the cosine schedule now ends at another step"));
}

TEST_F(TrainResume, RestoresALostBestLink) {
  ASSERT_EQ(train({"training.validation_every=20", "training.keep_best=5"}).code, 0);
  const auto best = fs::read_symlink(folder_ / "run" / "best");
  fs::remove(folder_ / "run" / "best");
  // At this rate the weights do not change, so no validation is better.
  ASSERT_EQ(train({"training.validation_every=20", "training.keep_best=5",
                   "training.learning_rate=1e-12", "training.max_steps=65"})
                .code,
            0);
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "best"), best);
}

TEST_F(TrainResume, ReportsOtherChanges) {
  const auto words = "data.tokenizer.src_file=" + file("words", "the\ncat\ndog\nhouse\n");
  ASSERT_EQ(train({words, "threads=1", "training.max_steps=1"}).code, 0);
  write_text(folder_ / "words", "the\ncat\n");
  fs::copy_file(folder_ / "train.en", folder_ / "other.en");
  write_text(folder_ / "other.en", read_text(folder_ / "other.en") + "the cat\n");
  write_text(folder_ / "train.fr", read_text(folder_ / "train.fr") + "lala\n");
  const auto manifest = folder_ / "run" / "manifest.json";
  auto text = read_text(manifest);
  text.replace(text.find("\"regard\": \"") + 11, 1, "9");
  write_text(manifest, text);
  const Words now = {words, "threads=2", "training.max_steps=2",
                     "data.train.0.src=" + path("other.en")};
  for (const std::string option : {"--dry-run", "--json"}) {
    const auto result = train(now + Words{option});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("warning: changed since this run last trained: threads"),
                      HasSubstr("threads: 1 in the last session, 2 now"),
                      HasSubstr("regard's version: 9"), HasSubstr("other.en: the text has changed"),
                      HasSubstr("train.fr: the text has changed"),
                      HasSubstr("words: the text has changed"), HasSubstr("keeps its tokenizers")));
  }
}

}  // namespace
}  // namespace regard::train_resume_test
