// regard train: how runs end, go on and start over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/train.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Train, ADryRunWritesNothing) {
  const auto result = train({"--dry-run"});
  EXPECT_EQ(result.code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("encoder"), HasSubstr("200")));
}

TEST_F(Train, ADryRunOfARunThatExistsGoesOnFromIt) {
  ASSERT_EQ(train().code, 0);
  const auto same = train({"--dry-run"});
  EXPECT_EQ(same.code, 0);
  EXPECT_THAT(same.err, HasSubstr("step-00000060"));
  EXPECT_EQ(train({"--dry-run", "model.decoder.hidden_size=24"}).code, 5);
  EXPECT_EQ(train({"--dry-run", "--fresh", "model.decoder.hidden_size=24"}).code, 0);
}

TEST_F(Train, ADryRunPassesOverEpochsWithoutAPair) {
  for (int seed = 0; seed < 5; ++seed) {
    EXPECT_EQ(train({"--dry-run", "data.train.0.weight=0.001",
                     "training.random_seed=" + std::to_string(seed)})
                  .code,
              0);
  }
}

TEST_F(Train, TwoRunsOfOneSeedEndInTheSameBytes) {
  ASSERT_EQ(train().code, 0);
  ASSERT_EQ(train({"training.model_dir=" + (folder_ / "again").string()}).code, 0);
  EXPECT_EQ(weights(), weights("again"));
  ASSERT_EQ(
      train({"training.model_dir=" + (folder_ / "other").string(), "training.random_seed=7"}).code,
      0);
  EXPECT_NE(weights(), weights("other"));
}

TEST_F(Train, ARunKilledAndResumedEndsInTheSameBytesAsOneNeverStopped) {
  const std::vector<std::string> same = {
      "training.max_steps=120",           "training.save_every=7",
      "model.dropout.states=0.3",         "training.moving_average=0.9",
      "training.gradient_accumulation=2", "training.validation_every=20",
      "data.tokenizer.kind=unigram",      "data.tokenizer.sampling=0.5",
      "data.tokenizer.vocabulary_size=30"};
  ASSERT_EQ(train(same).code, 0);
  const auto killed_run = folder_ / "killed";
  auto arguments = same;
  arguments.push_back("training.model_dir=" + killed_run.string());
  std::string command = std::string(REGARD_BINARY_DIR) + "/regard train -c " + config_.string();
  for (const auto& argument : arguments) command += " " + argument;
  // Killed as soon as there is a checkpoint to go on from, three times.
  for (const char* seen : {"0007", "0028", "0049"}) {
    const auto script = command + " 2>/dev/null & pid=$!; until [ -e " + killed_run.string() +
                        "/checkpoints/step-0000" + seen +
                        " ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; done; kill -9 $pid; "
                        "wait $pid 2>/dev/null";
    const int ignored = std::system(("bash -c '" + script + "'").c_str());
    (void)ignored;
    ASSERT_FALSE(fs::is_empty(killed_run / "checkpoints"));
    ASSERT_FALSE(fs::exists(killed_run / "checkpoints" / "step-00000120")) << "ended too soon";
  }
  ASSERT_EQ(train(arguments).code, 0);
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

TEST_F(Train, AFinishedRunSaysSoAndARaisedLimitContinuesIt) {
  ASSERT_EQ(train({"training.max_steps=30"}).code, 0);
  const auto again = train({"training.max_steps=30"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("finished"));
  ASSERT_EQ(train({"training.max_steps=60"}).code, 0);
  const auto continued = weights();
  ASSERT_EQ(train({"--fresh"}).code, 0);
  EXPECT_EQ(weights(), continued);
}

// One pair of 200 an epoch on average: of twelve epochs, several have none.
TEST_F(Train, AnEpochWithoutAPairIsNotValidatedAgain) {
  ASSERT_EQ(train({"data.train.0.weight=0.005", "training.max_steps=0", "training.epochs=12",
                   "training.validation_unit=epochs", "training.validation_every=1",
                   "training.batch_size=8", "training.batch_type=sentence"})
                .code,
            0);
  const auto rows = lines_of(read_text(folder_ / "run" / "validations.tsv"));
  ASSERT_GT(rows.size(), 2u);
  ASSERT_LT(rows.size(), 12u);
  for (std::size_t step = 1; step < rows.size(); ++step) {
    EXPECT_THAT(rows[step], StartsWith(std::to_string(step) + "\t"));
  }
}

TEST_F(Train, FirstWeightsCanBeThoseOfAnotherRun) {
  ASSERT_EQ(train().code, 0);
  const auto result = train({"--init-from", (folder_ / "run").string(), "training.max_steps=1",
                             "training.learning_rate=0.0000001",
                             "training.model_dir=" + (folder_ / "tuned").string()});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto translate = [&](const std::string& name) {
    return run({"translate", "-m", (folder_ / name / "last").string()},
               read_text(folder_ / "dev.en"))
        .out;
  };
  EXPECT_EQ(translate("run"), translate("tuned"));
}

TEST_F(Train, AFreshStartLeavesWhatTheRunHasNotWritten) {
  ASSERT_EQ(train().code, 0);
  for (const auto* own : {"notes.txt", "validation/mine.txt", "checkpoints/mine.bin"}) {
    write_text(folder_ / "run" / own, "mine");
  }
  ASSERT_EQ(train({"--fresh", "training.max_steps=20"}).code, 0);
  for (const auto* own : {"notes.txt", "validation/mine.txt", "checkpoints/mine.bin"}) {
    EXPECT_EQ(read_text(folder_ / "run" / own), "mine") << own;
  }
  EXPECT_FALSE(fs::exists(folder_ / "run" / "checkpoints" / "step-00000060"));
}

TEST_F(Train, PackedAndPlainTextTrainTheSameModel) {
  ASSERT_EQ(train().code, 0);
  const auto plain = weights();
  const auto pack = "gzip -k '" + (folder_ / "train.en").string() + "'";
  if (std::system(pack.c_str()) != 0) GTEST_SKIP() << "no gzip";
  ASSERT_EQ(train({"--fresh", "data.train.0.src=" + (folder_ / "train.en.gz").string()}).code, 0);
  EXPECT_EQ(weights(), plain);
}

// Of two corpora the second counts three times as much as the first: 200 and 3 × 40 pairs an epoch.
TEST_F(Train, SeveralCorporaAreReadEachWithItsWeight) {
  const auto more = toy_corpus(40, 3);
  write_text(folder_ / "more.en", more.source);
  write_text(folder_ / "more.fr", more.target);
  const auto result = train({"data.train.1.src=" + (folder_ / "more.en").string(),
                             "data.train.1.trg=" + (folder_ / "more.fr").string(),
                             "data.train.1.weight=3", "training.batch_size=10", "--dry-run"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("240"), HasSubstr("32 batches an epoch")));
}

// A rate of 1e-12 moves no weight in single precision: every validation equals the first.
TEST_F(Train, PatienceEndsATrainingThatGetsNoBetter) {
  const auto result = train({"training.patience=2", "training.validation_every=5",
                             "training.learning_rate=1e-12", "training.max_steps=1000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("Stopped at step 15"), HasSubstr("no better bleu in 2 validations")));
}

TEST_F(Train, APlateauEndsAtTheLowestRate) {
  const auto result = train({"training.scheduling=plateau", "training.decrease_patience=0",
                             "training.validation_every=2", "training.learning_rate=1e-12",
                             "training.learning_rate_min=0.3e-12", "training.max_steps=1000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("Stopped at step 6"), HasSubstr("the learning rate has come down")));
}

TEST_F(Train, TheNewestAndTheBestCheckpointsStay) {
  ASSERT_EQ(train({"training.validation_every=6", "training.keep_newest=2", "training.keep_best=3",
                   "training.early_stopping_metric=loss"})
                .code,
            0);
  std::vector<std::string> kept;  // the loss falls: the best are the newest
  for (const auto& entry : fs::directory_iterator(folder_ / "run" / "checkpoints")) {
    kept.push_back(entry.path().filename());
  }
  EXPECT_THAT(kept,
              testing::UnorderedElementsAre("step-00000048", "step-00000054", "step-00000060"));
}

TEST_F(Train, AnotherMetricJudgesTheEarlierValidationsAnew) {
  ASSERT_EQ(train({"training.validation_every=10", "training.max_steps=30"}).code, 0);
  const auto result = train({"training.validation_every=10", "training.max_steps=60",
                             "training.early_stopping_metric=loss", "training.patience=2"});
  ASSERT_EQ(result.code, 0) << result.err;  // the loss falls all the time
  EXPECT_THAT(result.err, HasSubstr("training.max_steps is reached (60)"));
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "best").filename(), "step-00000060");
}

TEST_F(Train, DropoutMayChangeInTheMiddleOfARun) {
  ASSERT_EQ(train({"training.max_steps=30"}).code, 0);
  const auto result = train({"model.dropout.states=0.1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("model.dropout.states: 0 → 0.1"));
}

TEST_F(Train, AShortTrainingSaysWhatItDidToo) {
  const auto result = train({"training.max_steps=6", "training.logging_every=100"});
  EXPECT_THAT(result.err, HasSubstr("step 6/6"));
  const auto lines = lines_of(read_text(folder_ / "run" / "train.jsonl"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("\"step\":6"), HasSubstr("seconds_left"),
                              HasSubstr("seconds_to_validation")));
}

TEST_F(Train, AFreshStartThatCannotBeMadeLosesNothing) {
  ASSERT_EQ(train().code, 0);
  const auto before = weights();
  EXPECT_EQ(train({"--fresh", "data.train.0.src=" + (folder_ / "nowhere.en").string()}).code, 3);
  EXPECT_EQ(weights(), before);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "validations.tsv"));
  EXPECT_EQ(train({"--fresh", "training.random_seed=7"}).code, 0);
  EXPECT_NE(weights(), before);
}

TEST_F(Train, TheLastValidationIsSavedWithItsStep) {
  ASSERT_EQ(train({"training.save_every=30", "training.validation_every=50"}).code, 0);
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "last").filename(), "step-00000060");
  const auto state = read_text(folder_ / "run" / "last" / "training.json");
  EXPECT_THAT(state, HasSubstr("60"));
  const auto rows = lines_of(read_text(folder_ / "run" / "validations.tsv")).size();
  EXPECT_EQ(train({"training.save_every=30", "training.validation_every=50"}).code, 0);
  EXPECT_EQ(lines_of(read_text(folder_ / "run" / "validations.tsv")).size(), rows);
}

TEST_F(Train, AModelBegunFromAnotherHasThatModelsTokenizers) {
  ASSERT_EQ(train().code, 0);
  const auto second = folder_ / "second";
  const auto result = train({"--init-from", (folder_ / "run").string(), "data.tokenizer.kind=bpe",
                             "training.model_dir=" + second.string()});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("data.tokenizer.kind"));
  EXPECT_THAT(read_text(second / "last" / "config.yaml"), HasSubstr("kind: word"));
  EXPECT_EQ(run({"translate", "-m", second.string()}, "the cat\n").code, 0);
}

TEST_F(Train, ASecondCallWithInitFromGoesOn) {
  ASSERT_EQ(train().code, 0);
  const std::vector<std::string> arguments = {
      "--init-from", (folder_ / "run").string(),
      "training.model_dir=" + (folder_ / "second").string()};
  ASSERT_EQ(train(arguments).code, 0);
  const auto again = train(arguments);
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("finished"));
}

TEST_F(Train, ChangedDataIsNamedAndTheManifestSaysBoth) {
  ASSERT_EQ(train().code, 0);
  for (const auto* side : {"train.en", "train.fr"}) {
    const auto text = read_text(folder_ / side);
    write_text(folder_ / side, text.substr(text.find('\n') + 1));
  }
  const auto result = train({"training.max_steps=70"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("200 lines"), HasSubstr("199")));
  EXPECT_THAT(read_text(folder_ / "run" / "manifest.json"),
              AllOf(HasSubstr("earlier_sittings"), HasSubstr("200"), HasSubstr("199")));
  EXPECT_THAT(read_text(folder_ / "run" / "config.yaml"), HasSubstr("max_steps: 70"));
}

TEST_F(Train, AnotherOptimizerIsRefusedByName) {
  ASSERT_EQ(train().code, 0);
  const auto result = train({"training.optimizer=sgd", "training.max_steps=70"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("training.optimizer"), HasSubstr("sgd")));
}

TEST_F(Train, ACopiedRunWithoutLinksGoesOn) {
  ASSERT_EQ(train().code, 0);
  const auto copy = folder_ / "copy";
  fs::copy(folder_ / "run", copy, fs::copy_options::recursive);  // follows links
  ASSERT_TRUE(fs::is_directory(fs::symlink_status(copy / "last")));
  EXPECT_EQ(train({"training.max_steps=70", "training.model_dir=" + copy.string()}).code, 0);
  EXPECT_EQ(fs::read_symlink(copy / "last").filename(), "step-00000070");
}

TEST_F(Train, ACosineWithoutAnEndArrivesWithTheLastEpoch) {
  ASSERT_EQ(train({"training.max_steps=0", "training.epochs=3", "training.scheduling=cosine",
                   "training.validation_every=1", "training.validation_unit=epochs"})
                .code,
            0);
  const auto rows = lines_of(read_text(folder_ / "run" / "validations.tsv"));
  ASSERT_EQ(rows.size(), 4);                      // with the names of the columns
  const auto rate = [](const std::string& row) {  // the seventh column
    std::size_t at = 0;
    for (int column = 0; column < 6; ++column) at = row.find('\t', at) + 1;
    return std::stod(row.substr(at));
  };
  EXPECT_GT(rate(rows[1]), 0.005);
  EXPECT_LT(rate(rows[2]), rate(rows[1]));
  EXPECT_NEAR(rate(rows[3]), 0, 1e-9);
}

TEST_F(Train, MoreMemoryThanThereIsEndsInASentence) {
  const auto result = train({"--dry-run", "model.decoder.hidden_size=10000000"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, AllOf(HasSubstr("memory"), Not(HasSubstr("frame #"))));
}

// As if it had never ended: nothing of the validation that closed it, of its last line, of the
// checkpoint of its last step.
TEST_F(Train, ARunEndedOffScheduleAndRaisedIsOneThatNeverEnded) {
  const std::vector<std::vector<std::string>> recipes = {
      {"training.scheduling=plateau", "training.decrease_patience=0", "training.learning_rate=0.01",
       "training.warmup_steps=0", "training.early_stopping_metric=loss"},
      {"training.patience=2", "training.learning_rate=1e-12"},
      {"training.keep_newest=3", "training.moving_average=0.9"}};
  for (auto recipe : recipes) {
    fs::remove_all(folder_ / "run");
    fs::remove_all(folder_ / "straight");
    recipe.insert(recipe.end(), {"training.validation_every=20", "training.logging_every=7"});
    const auto until = [&](const std::string& steps, const std::string& name) {
      auto arguments = recipe;
      arguments.push_back("training.max_steps=" + steps);
      arguments.push_back("training.model_dir=" + (folder_ / name).string());
      const auto result = train(arguments);
      EXPECT_EQ(result.code, 0) << result.err;
    };
    until("120", "straight");
    for (const std::string steps : {"30", "50", "120"}) until(steps, "run");
    for (const std::string file : {"model.safetensors", "training.safetensors"}) {
      EXPECT_TRUE(read_text(folder_ / "run" / "last" / file) ==
                  read_text(folder_ / "straight" / "last" / file))
          << recipe[0] << " " << file;
    }
    for (const auto* link : {"last", "best"}) {
      EXPECT_EQ(fs::read_symlink(folder_ / "run" / link),
                fs::read_symlink(folder_ / "straight" / link));
    }
    const auto steps_of = [&](const std::string& name, const std::string& file) {
      std::vector<std::string> steps;  // the part of each line that comes before its first figure
      for (const auto& line : lines_of(read_text(folder_ / name / file))) {
        steps.push_back(line.substr(0, line.find_first_of("\t:")));
        if (const auto at = line.find("\"step\":"); at != std::string::npos) {
          steps.back() = line.substr(at, line.find(',', at) - at);
        }
      }
      return steps;
    };
    for (const std::string file : {"train.jsonl", "validations.tsv"}) {
      EXPECT_EQ(steps_of("run", file), steps_of("straight", file)) << recipe[0];
    }
    for (const std::string names : {"validation", "checkpoints"}) {
      const auto in = [&](const std::string& run_name) {
        std::set<std::string> found;
        for (const auto& entry : fs::directory_iterator(folder_ / run_name / names)) {
          found.insert(entry.path().filename());
        }
        return found;
      };
      EXPECT_EQ(in("run"), in("straight")) << recipe[0];
    }
  }
}

TEST_F(Train, AFinishedRunStaysFinishedWhateverItsClosingValidationFound) {
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

TEST_F(Train, ACosineWhoseEndMovesIsSaid) {
  ASSERT_EQ(train({"training.scheduling=cosine", "training.max_steps=20"}).code, 0);
  const auto result = train({"training.scheduling=cosine", "training.max_steps=40"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("the cosine now ends elsewhere"));
}

TEST_F(Train, ABestLinkThatWasLostIsSetAgain) {
  ASSERT_EQ(train({"training.validation_every=20", "training.keep_best=5"}).code, 0);
  const auto best = fs::read_symlink(folder_ / "run" / "best");
  fs::remove(folder_ / "run" / "best");
  // At a rate that moves no weight no validation is better than those before.
  ASSERT_EQ(train({"training.validation_every=20", "training.keep_best=5",
                   "training.learning_rate=1e-12", "training.max_steps=65"})
                .code,
            0);
  EXPECT_EQ(fs::read_symlink(folder_ / "run" / "best"), best);
}

TEST_F(Train, WhatChangedBesideTheOptionsIsSaid) {
  write_text(folder_ / "words", "the\ncat\ndog\nhouse\n");
  const auto words = "data.tokenizer.src_file=" + (folder_ / "words").string();
  ASSERT_EQ(train({words, "threads=1"}).code, 0);
  write_text(folder_ / "words", "the\ncat\n");
  fs::copy_file(folder_ / "train.en", folder_ / "other.en");
  write_text(folder_ / "other.en", read_text(folder_ / "other.en") + "the cat\n");
  write_text(folder_ / "train.fr", read_text(folder_ / "train.fr") + "lala\n");
  const auto manifest = folder_ / "run" / "manifest.json";
  auto text = read_text(manifest);
  text.replace(text.find("\"regard\": \"") + 11, 1, "9");
  write_text(manifest, text);
  const std::vector<std::string> now = {words, "threads=2", "training.max_steps=70",
                                        "data.train.0.src=" + (folder_ / "other.en").string()};
  for (const std::string option : {"--dry-run", "--json"}) {
    auto arguments = now;
    arguments.push_back(option);
    const auto result = train(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(
        result.err,
        AllOf(HasSubstr("warning: changed since the run began: threads"),
              HasSubstr("threads: 1 so far, 2 now"), HasSubstr("regard's version: 9"),
              HasSubstr("other.en: is another text"), HasSubstr("train.fr: is another text"),
              HasSubstr("words: is another text"), HasSubstr("keeps the tokenizers")));
  }
}

TEST_F(Train, ASecondTrainerOfTheSameRunIsTurnedAway) {
  Running first({"train", "-c", config_.string(), "training.max_steps=1000000"});
  for (int i = 0; i < 1000 && !fs::exists(folder_ / "run" / "train.jsonl"); ++i) usleep(10'000);
  const auto second = train();
  EXPECT_EQ(second.code, 6);
  EXPECT_THAT(second.err, HasSubstr("is training here"));
}

}  // namespace
}  // namespace regard
