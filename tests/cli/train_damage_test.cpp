// regard train: runs with damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/train.h"

namespace regard::train_damage_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using TrainDamage = Train;

TEST_F(TrainDamage, NamesADamagedManifest) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  for (const auto* damaged : {"{", "[]", R"({"data": [1]})"}) {
    write_text(folder_ / "run" / "manifest.json", damaged);
    const auto result = train({"training.max_steps=2"});
    EXPECT_EQ(result.code, 5) << damaged;
    EXPECT_THAT(result.err, HasSubstr("manifest.json: damaged"));
  }
  fs::remove(folder_ / "run" / "manifest.json");
  EXPECT_EQ(train({"training.max_steps=2"}).code, 0);
}

TEST_F(TrainDamage, ReportsADamagedTokenizerAsDamagedModel) {
  const auto model = copy_of_model(tiny_model(), folder_ / "carried_off");
  write_text(model / "source.vocabulary", "a\n\nb\n");
  fs::remove(model / "manifest.json");
  const auto result = run({"translate", "-m", model.string()}, "the cat\n");
  EXPECT_EQ(result.code, 5) << result.err;
}

TEST_F(TrainDamage, TruncatedCheckpointIsNamedAndKept) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto file = folder_ / "run" / "last" / "training.safetensors";
  fs::resize_file(file, fs::file_size(file) / 2);
  const auto before = weights();
  const auto result = train({"training.max_steps=2"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("training.safetensors"));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainDamage, NamesTheFolderWithoutWhichItResumesFromTheCheckpointBefore) {
  const Words same = {"training.save_every=10", "training.max_steps=70", "training.keep_newest=3"};
  ASSERT_EQ(train(same).code, 0);
  const auto straight = weights();
  const auto last = folder_ / "run" / "checkpoints" / "step-00000070";
  const auto before = folder_ / "run" / "checkpoints" / "step-00000060";
  write_text(last / "model.safetensors", "x");
  fs::resize_file(before / "manifest.json", 40);
  for (const auto* option : {"--dry-run", "--json"}) {
    const auto refused = train(same + Words{option});
    EXPECT_EQ(refused.code, 5) << option;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("step-00000070/model.safetensors"),
                                   HasSubstr("step-00000070 to resume from")));
  }
  fs::remove_all(last);
  EXPECT_THAT(train(same).err, AllOf(HasSubstr("step-00000060/manifest.json: the manifest is"),
                                     HasSubstr("step-00000060 to resume from")));
  fs::remove_all(before);
  const auto resumed = train(same);
  EXPECT_EQ(resumed.code, 0);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("last: points to checkpoints/step-00000070, which is"),
                                 HasSubstr("Resuming from step 50")));
  EXPECT_EQ(weights(), straight);
}

TEST_F(TrainDamage, DoesNotChangeARunWithoutManifests) {
  const Words same = {"training.save_every=10", "training.keep_newest=2"};
  ASSERT_EQ(train(same).code, 0);
  const auto checkpoints = folder_ / "run" / "checkpoints";
  fs::remove(checkpoints / "step-00000060" / "manifest.json");
  EXPECT_THAT(train(same).err, HasSubstr("step-00000060 to resume from"));
  fs::remove(checkpoints / "step-00000050" / "manifest.json");
  const auto train_log = read_text(folder_ / "run" / "train.jsonl");
  const auto validations = read_text(folder_ / "run" / "validations.tsv");
  const auto refused = train(same);
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("It is the only checkpoint of the run"));
  EXPECT_TRUE(fs::exists(checkpoints / "step-00000060" / "model.safetensors"));
  EXPECT_EQ(read_text(folder_ / "run" / "train.jsonl"), train_log);
  EXPECT_EQ(read_text(folder_ / "run" / "validations.tsv"), validations);
}

TEST_F(TrainDamage, NamesAnEditedConfiguration) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto config = folder_ / "run" / "last" / "config.yaml";
  write_text(config, read_text(config) + "# mine\n");
  write_text(folder_ / "dev.en", "");
  const auto result = train({"training.max_steps=2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, Not(HasSubstr("to resume from")));
}

}  // namespace
}  // namespace regard::train_damage_test
