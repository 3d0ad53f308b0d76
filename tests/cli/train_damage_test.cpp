// regard train: runs with damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard::train_damage_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using TrainDamage = Train;

TEST_F(TrainDamage, NamesADamagedManifest) {
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

TEST_F(TrainDamage, ReportsADamagedTokenizerAsDamagedModel) {
  ASSERT_EQ(train().code, 0);
  const auto model = folder_ / "carried_off";
  fs::copy(fs::canonical(folder_ / "run" / "last"), model, fs::copy_options::recursive);
  write_text(model / "source.vocabulary", "a\n\nb\n");
  fs::remove(model / "manifest.json");
  const auto result = run({"translate", "-m", model.string()}, "the cat\n");
  EXPECT_EQ(result.code, 5) << result.err;
}

TEST_F(TrainDamage, TruncatedCheckpointIsNamedAndKept) {
  ASSERT_EQ(train().code, 0);
  const auto file = folder_ / "run" / "last" / "training.safetensors";
  fs::resize_file(file, fs::file_size(file) / 2);
  const auto before = weights();
  const auto result = train({"training.max_steps=90"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("training.safetensors"));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainDamage, FallsBackToTheCheckpointBefore) {
  const std::vector<std::string> same = {"training.save_every=10", "training.max_steps=70",
                                         "training.keep_newest=3"};
  ASSERT_EQ(train(same).code, 0);
  const auto straight = weights();
  const auto rows = read_text(folder_ / "run" / "validations.tsv");
  const auto checkpoints = folder_ / "run" / "checkpoints";
  write_text(checkpoints / "step-00000070" / "model.safetensors", "x");
  fs::resize_file(checkpoints / "step-00000060" / "manifest.json", 40);
  const auto refused = train(same);
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("step-00000070"), HasSubstr("--fall-back")));
  auto with_flag = same;
  with_flag.push_back("--fall-back");
  const auto resumed = train(with_flag);
  EXPECT_EQ(resumed.code, 0);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("step-00000070/model.safetensors: damaged"),
                                 HasSubstr("step-00000060/manifest.json: the manifest is damaged"),
                                 HasSubstr("Resuming from step 50")));
  EXPECT_EQ(weights(), straight);
}

// Damages the last or all of three checkpoints.
TEST_F(TrainDamage, FallsBackAfterEveryKindOfDamage) {
  const std::vector<std::string> same = {"training.save_every=10", "training.max_steps=60",
                                         "training.keep_newest=3"};
  const auto fall_back = [&] {
    auto arguments = same;
    arguments.push_back("--fall-back");
    return train(arguments);
  };
  ASSERT_EQ(train(same).code, 0);
  const auto straight = weights();
  for (const std::string file : {"manifest.json", "config.yaml", "model.safetensors",
                                 "training.json", "training.safetensors", "source.vocabulary"}) {
    const auto damaged = folder_ / "run" / "checkpoints" / "step-00000060" / file;
    ASSERT_TRUE(fs::exists(damaged)) << file;
    if (file == "manifest.json") {
      fs::remove(damaged);
    } else {
      fs::resize_file(damaged, fs::file_size(damaged) - 20);
    }
    for (const std::string option : {"--dry-run", "--json"}) {
      auto arguments = same;
      arguments.push_back(option);
      const auto refused = train(arguments);
      EXPECT_EQ(refused.code, 5) << file << refused.err;
      EXPECT_THAT(refused.err, AllOf(HasSubstr(file), HasSubstr("--fall-back"))) << file;
    }
    const auto resumed = fall_back();
    EXPECT_EQ(resumed.code, 0) << file << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("Resuming from step 50")) << file;
    EXPECT_TRUE(weights() == straight) << file;
  }
  for (const auto* step : {"40", "50", "60"}) {
    write_text(
        folder_ / "run" / "checkpoints" / (std::string("step-000000") + step) / "training.json",
        "{}");
  }
  const auto rows = read_text(folder_ / "run" / "validations.tsv");
  const auto refused = fall_back();
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("all checkpoints of this run are damaged"));
  EXPECT_TRUE(weights() == straight);
  EXPECT_EQ(read_text(folder_ / "run" / "validations.tsv"), rows);
}

TEST_F(TrainDamage, DoesNotChangeARunWithoutManifests) {
  const std::vector<std::string> same = {"training.save_every=10", "training.keep_newest=2"};
  ASSERT_EQ(train(same).code, 0);
  const auto checkpoints = folder_ / "run" / "checkpoints";
  fs::remove(checkpoints / "step-00000060" / "manifest.json");
  EXPECT_THAT(train(same).err, HasSubstr("--fall-back"));
  fs::remove(checkpoints / "step-00000050" / "manifest.json");
  const auto train_log = read_text(folder_ / "run" / "train.jsonl");
  auto arguments = same;
  arguments.push_back("--fall-back");
  const auto refused = train(arguments);
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("all checkpoints of this run are damaged"));
  EXPECT_TRUE(fs::exists(checkpoints / "step-00000060" / "model.safetensors"));
  EXPECT_EQ(read_text(folder_ / "run" / "train.jsonl"), train_log);
}

TEST_F(TrainDamage, NamesAnEditedConfiguration) {
  ASSERT_EQ(train().code, 0);
  const auto config = folder_ / "run" / "last" / "config.yaml";
  write_text(config, read_text(config) + "# mine\n");
  write_text(folder_ / "dev.en", "");
  const auto result = train({"training.max_steps=70"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, Not(HasSubstr("--fall-back")));
}

TEST_F(TrainDamage, FallBackBeginsWithTheLastCheckpoint) {
  const std::vector<std::string> same = {"training.save_every=10", "training.keep_newest=3"};
  ASSERT_EQ(train(same).code, 0);
  fs::remove(folder_ / "run" / "last");
  fs::create_symlink("checkpoints/step-00000050", folder_ / "run" / "last");
  auto arguments = same;
  arguments.push_back("--fall-back");
  EXPECT_THAT(train(arguments).err, HasSubstr("Resuming from step 50"));
}

}  // namespace
}  // namespace regard::train_damage_test
