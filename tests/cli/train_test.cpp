// regard train: what bad input gets, and how runs end, go on and start over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/run.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Train : public testing::Test {
 protected:
  Finished train(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"train", "-c", config_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::string weights(const std::string& run_name = "run") const {
    return read_text(folder_ / run_name / "last" / "model.safetensors");
  }

  fs::path folder_ = fresh_folder();
  fs::path config_ = toy_training(folder_);
};

// What bad input gets: an exit code, and a sentence that holds these words.
using TrainBadInput = Train;

TEST_F(TrainBadInput, AMissingCorpusFile) {
  const auto result = train({"data.train.0.src=" + (folder_ / "nowhere.en").string()});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("nowhere.en"), HasSubstr("command line: data.train.0.src"),
                    HasSubstr("no such file")));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainBadInput, AMissingFileIsNamedByTheKeyAndTheLineThatAskForIt) {
  fs::remove(folder_ / "dev.fr");
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("config.yaml:7: data.dev.trg"), HasSubstr("dev.fr")));
}

TEST_F(TrainBadInput, AFolderForAFile) {
  const auto result = train({"data.train.0.src=" + folder_.string()});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("folder"));
}

TEST_F(TrainBadInput, LineCountsThatDifferAreBothNamed) {
  write_text(folder_ / "train.en", "a\nb\nc\n");
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("train.fr"), HasSubstr("3"),
                                HasSubstr("200")));
}

TEST_F(TrainBadInput, InvalidUtf8IsNamedByFileLineAndByte) {
  auto text = read_text(folder_ / "train.en");
  text.insert(text.find('\n') + 1, "\xff");
  write_text(folder_ / "train.en", text);
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en:2"), HasSubstr("byte")));
}

TEST_F(TrainBadInput, AnEmptyCorpus) {
  write_text(folder_ / "train.en", "");
  write_text(folder_ / "train.fr", "");
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("no text")));
}

TEST_F(TrainBadInput, NothingButEmptyLines) {
  write_text(folder_ / "train.en", "\n\n");
  write_text(folder_ / "train.fr", "\n\n");
  const auto result = train({"data.tokenizer.kind=character"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("no text")));
}

TEST_F(TrainBadInput, ACorpusOfWhichNothingIsKept) {
  const auto result = train({"data.max_length=1"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("no training pair is left"),
                                HasSubstr("data.max_length")));
}

TEST_F(TrainBadInput, Utf16IsCalledByItsName) {
  write_text(folder_ / "train.en", std::string("\xff\xfe"
                                               "a\0\n\0",
                                               6));
  write_text(folder_ / "train.fr", "a\n\n");
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en:1"), HasSubstr("iconv -f UTF-16")));
}

TEST_F(TrainBadInput, AMisspeltKeyIsNamedWithASuggestion) {
  const auto result = train({"training.learning_rte=1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("learning_rte"), HasSubstr("learning_rate")));
}

TEST_F(TrainBadInput, AMisspeltKeyInTheFileIsNamedByLine) {
  write_text(config_, read_text(config_) + "  beam_sise: 3\n");
  const auto result = train();
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("config.yaml:"), HasSubstr("beam_size")));
}

TEST_F(TrainBadInput, AValueOfTheWrongTypeOrOutOfRange) {
  EXPECT_EQ(train({"training.max_steps=many"}).code, 2);
  const auto result = train({"model.dropout.states=1.5"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("1.5"), HasSubstr("0.99")));
}

TEST_F(TrainBadInput, KeysThatContradictEachOther) {
  const auto result = train({"model.tied_embeddings=all"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("tied_embeddings"), HasSubstr("joint")));
}

TEST_F(TrainBadInput, AnUnknownAttentionNamesTheNearest) {
  const auto result = train({"model.attention.kind=aditive"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("`additive`"), HasSubstr("command line:")));
}

TEST_F(TrainBadInput, AVocabularyLargerThanTheCorpusCanGive) {
  const auto result = train({"data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=5000"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("vocabulary_size"), HasSubstr("5000"), HasSubstr("train.en")));
}

TEST_F(TrainBadInput, ADamagedManifestIsNamedAndCanBeMovedAway) {
  ASSERT_EQ(train().code, 0);
  for (const auto* damaged : {"{", "[]", R"({"data": [1]})"}) {
    write_text(folder_ / "run" / "manifest.json", damaged);
    const auto result = train({"training.max_steps=62"});
    EXPECT_EQ(result.code, 5) << damaged;
    EXPECT_THAT(result.err, HasSubstr("manifest.json: damaged"));
  }
  fs::remove(folder_ / "run" / "manifest.json");
  EXPECT_EQ(train({"training.max_steps=62"}).code, 0);
}

TEST_F(TrainBadInput, TheTokenizerOfADamagedModelIsTheModelsFault) {
  ASSERT_EQ(train().code, 0);
  const auto model = folder_ / "carried_off";
  fs::copy(fs::canonical(folder_ / "run" / "last"), model, fs::copy_options::recursive);
  write_text(model / "source.vocabulary", "a\n\nb\n");
  fs::remove(model / "manifest.json");
  const auto result = run({"translate", "-m", model.string()}, "the cat\n");
  EXPECT_EQ(result.code, 5) << result.err;
}

TEST_F(TrainBadInput, AMissingConfiguration) {
  const auto result = run({"train", "-c", (folder_ / "nowhere.yaml").string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("nowhere.yaml"));
}

TEST_F(TrainBadInput, ADeviceThatIsNotThere) {
  const auto result = train({"--device", "cuda:99"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, HasSubstr("cuda:99"));
}

TEST_F(TrainBadInput, AFolderThatCannotBeMade) {
  const auto result = train({"training.model_dir=/proc/no/run"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, HasSubstr("/proc/no"));
}

TEST_F(TrainBadInput, AFullDiskKeepsTheLastCheckpoint) {
  const auto disk = folder_ / "disk";
  fs::create_directories(disk);
  const auto mount = "mount -t tmpfs -o size=400k none '" + disk.string() + "' 2>/dev/null";
  if (geteuid() != 0 || std::system(mount.c_str()) != 0) GTEST_SKIP() << "no tmpfs to fill";
  const auto result =
      train({"training.model_dir=" + (disk / "run").string(), "training.max_steps=100",
             "training.validation_every=5", "training.keep_newest=50"});
  const bool kept = fs::exists(disk / "run" / "last" / "model.safetensors");
  const auto translated = run({"translate", "-m", (disk / "run" / "last").string()}, "the cat\n");
  EXPECT_EQ(std::system(("umount '" + disk.string() + "'").c_str()), 0);
  EXPECT_EQ(result.code, 6);
  EXPECT_TRUE(kept);
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST_F(TrainBadInput, ACheckpointCutShortIsNamedAndNothingIsOverwritten) {
  ASSERT_EQ(train().code, 0);
  const auto file = folder_ / "run" / "last" / "training.safetensors";
  fs::resize_file(file, fs::file_size(file) / 2);
  const auto before = weights();
  const auto result = train({"training.max_steps=90"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("training.safetensors"));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainBadInput, ARunOfAnotherShapeIsNamedKeyByKey) {
  ASSERT_EQ(train().code, 0);
  const auto before = weights();
  const auto result = train({"model.decoder.hidden_size=24"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("model.decoder.hidden_size"), HasSubstr("24")));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainBadInput, FirstWeightsOfAnotherShape) {
  ASSERT_EQ(train().code, 0);
  const auto result = train({"--init-from", (folder_ / "run").string(), "model.attention.size=24",
                             "training.model_dir=" + (folder_ / "other").string()});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("shape"));
}

TEST_F(TrainBadInput, ALearningRateThatDivergesLeavesTheLastCheckpoint) {
  const auto result =
      train({"training.optimizer=sgd", "training.learning_rate=1000", "training.weight_decay=1000",
             "training.clip_grad_norm=0", "training.save_every=1", "training.max_steps=2000",
             "training.validation_every=5000"});
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("learning_rate"), HasSubstr("The last checkpoint stands"),
                                HasSubstr("clip_grad_norm (it is off)")));
  const auto last = folder_ / "run" / "last";
  EXPECT_EQ(run({"info", last.string()}).code, 0);
  EXPECT_EQ(run({"translate", "-m", last.string()}, "the cat\n").code, 0);
}

TEST_F(TrainBadInput, AFolderThatMustNotBeWritten) {
  const auto locked = folder_ / "locked";
  fs::create_directories(locked);
  // What holds for everyone else, root overrides; not so a file system that is read-only.
  const bool root = geteuid() == 0;
  const auto mount = "mount -t tmpfs -o ro none '" + locked.string() + "' 2>/dev/null";
  if (root && std::system(mount.c_str()) != 0) GTEST_SKIP() << "no read-only file system";
  if (!root) fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
  const auto result = train({"training.model_dir=" + (locked / "run").string()});
  if (root) {
    EXPECT_EQ(std::system(("umount '" + locked.string() + "'").c_str()), 0);
  } else {
    fs::permissions(locked, fs::perms::owner_all);
  }
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, AllOf(HasSubstr("locked/run"), HasSubstr("choose one")));
}

TEST_F(TrainBadInput, AFolderOfSomebodyElseIsNotWrittenInto) {
  const auto project = folder_ / "project";
  fs::create_directories(project);
  const auto config = read_text(config_);
  for (const auto* name : {"config.yaml", "manifest.json"}) {
    fs::remove_all(project);
    fs::create_directories(project);
    write_text(project / name, config);
    for (const auto* fresh : {"training.max_steps=60", "--fresh"}) {
      const auto result = train({"training.model_dir=" + project.string(), fresh});
      EXPECT_EQ(result.code, 2) << name;
      EXPECT_THAT(result.err, HasSubstr("training.model_dir a folder of its own"));
    }
    EXPECT_EQ(read_text(project / name), config);
    EXPECT_EQ(std::distance(fs::directory_iterator(project), {}), 1);
  }
}

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

// A training of a million steps, sent `signal` once it is at work; `redirect` says where its
// messages go.
class TrainSignals : public Train {
 protected:
  int train_and_send(const std::string& signal, const std::string& redirect) const {
    const auto script =
        std::string(REGARD_BINARY_DIR) + "/regard train -c " + config_.string() +
        " training.max_steps=1000000 " + redirect + " & pid=$!; until grep -q step " +
        (folder_ / "run" / "train.jsonl").string() +
        " 2>/dev/null || ! kill -0 $pid; do sleep 0.01; done; kill -" + signal + " $pid; wait $pid";
    // A shell of its own hands SIGINT on: one without job control has its children ignore it.
    return WEXITSTATUS(std::system(("bash -mc '" + script + "'").c_str()));
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

TEST_F(TrainSignals, NobodyReadingTheMessagesStopsNothing) {
  EXPECT_EQ(train_and_send("TERM", "2> >(head -n 1 >/dev/null)"), 143);
  EXPECT_THAT(read_text(folder_ / "run" / "train.log"), HasSubstr("Stopped at step"));
}

TEST_F(Train, ASecondTrainerOfTheSameRunIsTurnedAway) {
  Running first({"train", "-c", config_.string(), "training.max_steps=1000000"});
  for (int i = 0; i < 1000 && !fs::exists(folder_ / "run" / "train.jsonl"); ++i) usleep(10'000);
  const auto second = train();
  EXPECT_EQ(second.code, 6);
  EXPECT_THAT(second.err, Not(HasSubstr("unexpected")));
}

}  // namespace
}  // namespace regard
