// regard train: starting, ending and restarting runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/train.h"

namespace regard::train_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Train, DryRunWritesNothing) {
  const auto result = train({"--dry-run"});
  EXPECT_EQ(result.code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("encoder"), HasSubstr("200")));
}

TEST_F(Train, DryRunEstimatesTimeAndMemory) {
  const auto result = train({"--dry-run", "training.max_steps=1000"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("the mean of 10: about 0:0"),
                                HasSubstr("up to step 1,000"), HasSubstr("Memory so far: ")));
  EXPECT_THAT(train({"--dry-run", "training.max_steps=0", "training.patience=5"}).err,
              Not(HasSubstr("up to step")));
}

TEST_F(Train, DryRunOfAFinishedRunHasNoTimeLeft) {
  ASSERT_EQ(train({"training.max_steps=20"}).code, 0);
  const auto result = train({"--dry-run", "training.max_steps=20"});
  EXPECT_THAT(result.err, AllOf(HasSubstr("Dry run, resuming from step 20 ("),
                                HasSubstr(" and 0:00 up to step 20, ")));
}

TEST_F(Train, DryRunRefusesAFileInThePlaceOfTheRun) {
  write_text(folder_ / "run", "text");
  const auto result = train({"--dry-run"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("found a file, expected a folder"));
  EXPECT_EQ(train().code, 2);
  EXPECT_EQ(read_text(folder_ / "run"), "text");
}

TEST_F(Train, DryRunResumesAnExistingRun) {
  ASSERT_EQ(train().code, 0);
  const auto same = train({"--dry-run"});
  EXPECT_EQ(same.code, 0);
  EXPECT_THAT(same.err, HasSubstr("step-00000060"));
  EXPECT_EQ(train({"--dry-run", "model.decoder.hidden_size=24"}).code, 5);
  EXPECT_EQ(train({"--dry-run", "--fresh", "model.decoder.hidden_size=24"}).code, 0);
}

TEST_F(Train, WarnsOfValidationTextWithoutSpaces) {
  std::string target;
  for (int i = 0; i < 20; ++i) target += "我们昨天在北京看了一场电影。\n";
  write_text(folder_ / "dev.fr", target);
  const auto result = train({"--dry-run"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("dev.fr: found Chinese"),
                                HasSubstr("training.early_stopping_metric to chrf")));
  EXPECT_THAT(train({"--dry-run", "training.early_stopping_metric=chrf"}).err,
              Not(HasSubstr("found Chinese")));
}

// One pair per epoch on average: of the first five epochs, one or two have no pair.
TEST_F(Train, DryRunSkipsEpochsWithoutAPair) {
  for (int seed = 0; seed < 5; ++seed) {
    EXPECT_EQ(train({"--dry-run", "data.train.0.weight=0.005",
                     "training.random_seed=" + std::to_string(seed)})
                  .code,
              0);
  }
}

TEST_F(Train, RunsWithTheSameSeedEndInTheSameBytes) {
  const Words brief = {"training.max_steps=10"};
  ASSERT_EQ(train(brief).code, 0);
  ASSERT_EQ(train(brief + Words{"training.model_dir=" + path("again")}).code, 0);
  EXPECT_EQ(weights(), weights("again"));
  ASSERT_EQ(
      train(brief + Words{"training.model_dir=" + path("other"), "training.random_seed=7"}).code,
      0);
  EXPECT_NE(weights(), weights("other"));
}

// Tests the baseline of hard attention.
TEST_F(Train, MeanLogProbabilityFollowsTheLosses) {
  ASSERT_EQ(train({"training.max_steps=3", "training.logging_every=1"}).code, 0);
  double mean = 0;
  for (const auto& line : lines_of(read_text(folder_ / "run" / "train.jsonl"))) {
    const auto log_p = -parse_json(line).at("loss").get<double>();
    mean = mean == 0 ? log_p : 0.9 * mean + 0.1 * log_p;
  }
  const auto state = parse_json(read_text(folder_ / "run" / "last" / "training.json"));
  EXPECT_LT(mean, -1);
  EXPECT_NEAR(state.at("mean_log_p").get<double>(), mean, 1e-6);
}

TEST_F(Train, AnErrorRateSelectsTheBestCheckpoint) {
  const auto result = train({"training.early_stopping_metric=wer", "training.max_steps=20"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("The best validation by wer was at step"));
  const auto table = [&] { return lines_of(read_text(folder_ / "run" / "validations.tsv")); };
  EXPECT_THAT(table().at(0), testing::EndsWith("best\twer"));
  EXPECT_THAT(table().at(1), testing::ContainsRegex("\t[0-9.]+$"));
  ASSERT_EQ(train({"training.early_stopping_metric=exact", "training.max_steps=40"}).code, 0);
  EXPECT_THAT(table().at(0), HasSubstr("\texact"));
  EXPECT_THAT(table().at(0), HasSubstr("\twer"));
}

// One pair per epoch on average: of twelve epochs, several have no pair.
TEST_F(Train, EpochWithoutAPairIsNotValidated) {
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

TEST_F(Train, InitFromStartsWithTheWeightsOfAnotherRun) {
  const auto result = train({"--init-from", tiny_model().string(), "training.max_steps=1",
                             "training.learning_rate=0.0000001"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto translated = run({"translate", "-m", path("run/last"), "-i", path("dev.en")});
  EXPECT_EQ(translated.out, tiny_translation());
}

TEST_F(Train, FreshKeepsForeignFiles) {
  ASSERT_EQ(train({"training.max_steps=5"}).code, 0);
  for (const auto* own : {"notes.txt", "validation/mine.txt", "checkpoints/mine.bin"}) {
    write_text(folder_ / "run" / own, "mine");
  }
  ASSERT_EQ(train({"--fresh", "training.max_steps=2"}).code, 0);
  for (const auto* own : {"notes.txt", "validation/mine.txt", "checkpoints/mine.bin"}) {
    EXPECT_EQ(read_text(folder_ / "run" / own), "mine") << own;
  }
  EXPECT_FALSE(fs::exists(folder_ / "run" / "checkpoints" / "step-00000005"));
}

TEST_F(Train, ANameThatIsNoFolderBelowRunsWritesNothing) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  for (const std::string name : {"../evil", "", "..", "."}) {
    const auto finished = train({"training.model_dir=", "name=" + name, "training.max_steps=1"});
    EXPECT_EQ(finished.code, 2) << name;
    EXPECT_THAT(finished.err, HasSubstr("name: found ")) << name;
  }
  EXPECT_FALSE(std::filesystem::exists("runs"));
  EXPECT_FALSE(std::filesystem::exists("../evil"));
  std::filesystem::current_path(before);
}

TEST_F(Train, CompressedAndPlainTextTrainTheSameModel) {
  ASSERT_EQ(train({"training.max_steps=5"}).code, 0);
  const auto plain = weights();
  const auto pack = "gzip -k '" + path("train.en") + "'";
  if (std::system(pack.c_str()) != 0) GTEST_SKIP() << "no gzip";
  ASSERT_EQ(
      train({"--fresh", "training.max_steps=5", "data.train.0.src=" + path("train.en.gz")}).code,
      0);
  EXPECT_EQ(weights(), plain);
}

// Samples have up to one token per letter; the model has positions only for the best segmentation.
TEST_F(Train, SampledSubWordsStayWithinThePositions) {
  const Words sampled = {"data.tokenizer.kind=bpe",
                         "data.tokenizer.vocabulary_size=60",
                         "data.tokenizer.joint=true",
                         "data.tokenizer.sampling=0.8",
                         "data.max_length=26",
                         "search.max_output_length=27",
                         "--fresh"};
  const auto learned =
      as_transformer() + Words{"model.encoder.position=learned", "model.encoder.max_positions=27",
                               "model.decoder.position=learned", "model.decoder.max_positions=27"};
  const Words location = {"model.attention.size=512", "model.attention.kind=location",
                          "model.attention.max_positions=27"};
  for (const auto& model : {location, learned}) {
    const auto trained = train(sampled + model);
    EXPECT_EQ(trained.code, 0) << model.back() << trained.err;
  }
}

// The second corpus has weight 3: 200 + 3 × 40 pairs per epoch.
TEST_F(Train, ReadsSeveralCorporaWithWeights) {
  const auto more = toy_corpus(40, 3);
  write_text(folder_ / "more.en", more.source);
  write_text(folder_ / "more.fr", more.target);
  const auto result = train({"data.train.1.src=" + (folder_ / "more.en").string(),
                             "data.train.1.trg=" + (folder_ / "more.fr").string(),
                             "data.train.1.weight=3", "training.batch_size=10", "--dry-run"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("240"), HasSubstr("32 batches per epoch")));
}

// A rate of 1e-12 does not change weights in single precision, so all validations are equal.
TEST_F(Train, PatienceEndsTraining) {
  const auto result = train({"training.patience=2", "training.validation_every=5",
                             "training.learning_rate=1e-12", "training.max_steps=1000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("Stopped at step 15"), HasSubstr("no better bleu in 2 validations")));
}

TEST_F(Train, PlateauEndsAtTheMinimumRate) {
  const auto result = train({"training.scheduling=plateau", "training.decrease_patience=0",
                             "training.validation_every=2", "training.learning_rate=1e-12",
                             "training.learning_rate_min=0.3e-12", "training.max_steps=1000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("Stopped at step 6"), HasSubstr("learning rate reached")));
}

TEST_F(Train, KeepsTheNewestAndBestCheckpoints) {
  ASSERT_EQ(train({"training.validation_every=6", "training.keep_newest=2", "training.keep_best=3",
                   "training.early_stopping_metric=loss"})
                .code,
            0);
  std::vector<std::string> kept;  // the loss falls: the best are the newest
  for (const auto& entry : fs::directory_iterator(folder_ / "run" / "checkpoints")) {
    if (entry.is_directory()) kept.push_back(entry.path().filename());
  }
  EXPECT_THAT(kept,
              testing::UnorderedElementsAre("step-00000048", "step-00000054", "step-00000060"));
}

TEST_F(Train, ShortTrainingLogsASummary) {
  const auto result = train({"training.max_steps=6", "training.logging_every=100"});
  EXPECT_THAT(result.err, HasSubstr("step 6/6"));
  const auto lines = lines_of(read_text(folder_ / "run" / "train.jsonl"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("\"step\":6"), HasSubstr("seconds_left"),
                              HasSubstr("seconds_to_validation")));
}

TEST_F(Train, WithoutADevPairAnnouncesNoValidation) {
  const auto result = train(
      {"training.max_steps=6", "training.validation_every=2", "data.dev.src=", "data.dev.trg="});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, testing::Not(HasSubstr("validation in")));
  EXPECT_THAT(read_text(folder_ / "run" / "train.jsonl"),
              HasSubstr("\"seconds_to_validation\":null"));
}

TEST_F(Train, FailedFreshStartLosesNothing) {
  ASSERT_EQ(train({"training.max_steps=2"}).code, 0);
  const auto before = weights();
  EXPECT_EQ(train({"--fresh", "data.train.0.src=" + (folder_ / "nowhere.en").string()}).code, 3);
  EXPECT_EQ(weights(), before);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "validations.tsv"));
  EXPECT_EQ(train({"--fresh", "training.max_steps=2", "training.random_seed=7"}).code, 0);
  EXPECT_NE(weights(), before);
}

TEST_F(Train, InitFromUsesTheTokenizersOfTheModel) {
  const auto result = train(
      {"--init-from", tiny_model().string(), "data.tokenizer.kind=bpe", "training.max_steps=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("data.tokenizer.kind"));
  EXPECT_THAT(read_text(folder_ / "run" / "last" / "config.yaml"), HasSubstr("kind: word"));
  EXPECT_EQ(run({"translate", "-m", path("run")}, "the cat\n").code, 0);
}

TEST_F(Train, CosineWithoutStepsEndsWithTheLastEpoch) {
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

TEST_F(Train, OutOfMemoryIsReported) {
  const auto result = train({"--dry-run", "model.decoder.hidden_size=10000000"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, AllOf(HasSubstr("memory"), Not(HasSubstr("frame #"))));
}

TEST_F(Train, RejectsASecondTrainerOfTheSameRun) {
  Running first({"train", "-c", config_.string(), "training.max_steps=1000000"});
  for (int i = 0; i < 1000 && !fs::exists(folder_ / "run" / "train.jsonl"); ++i) usleep(10'000);
  const auto second = train();
  EXPECT_EQ(second.code, 6);
  EXPECT_THAT(second.err, HasSubstr("is training here"));
}

}  // namespace
}  // namespace regard::train_test
