// Reads checkpoints of the formats that regard reads (tests/checkpoint/formats/N).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/run.h"

namespace regard::formats_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Formats : public testing::TestWithParam<std::string> {
 protected:
  const fs::path checkpoint_ =
      fs::path(REGARD_SOURCE_DIR) / "tests" / "checkpoint" / "formats" / GetParam();
  const fs::path folder_ = fresh_folder();
};

TEST_P(Formats, ModelTranslatesTheSame) {
  const auto result = run({"translate", "-m", checkpoint_.string(), "-i",
                           (checkpoint_ / "source.txt").string(), "--beam-size", "5"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, read_text(checkpoint_ / "translations.txt"));
}

TEST_P(Formats, RunResumes) {
  const auto saved = folder_ / "run" / "checkpoints" / "step-00000600";
  fs::create_directories(saved.parent_path());
  fs::copy(checkpoint_, saved);
  write_text(folder_ / "train.src", "one cat\ntwo dog eats\n");
  write_text(folder_ / "train.trg", "un chat\ndeux chien mange\n");
  const auto result =
      run({"train", "-c", (saved / "config.yaml").string(),
           "training.model_dir=" + (folder_ / "run").string(),
           "data.train.0.src=" + (folder_ / "train.src").string(),
           "data.train.0.trg=" + (folder_ / "train.trg").string(), "training.max_steps=605"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Resuming from step 600"));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "checkpoints" / "step-00000605"));
}

INSTANTIATE_TEST_SUITE_P(All, Formats, testing::Values("2"),
                         [](const auto& tested) { return "format_" + tested.param; });

// The version that wrote a model may have had other defaults.
TEST(SavedConfiguration, MaySetAKeyThatNothingReads) {
  const auto folder = fresh_folder();
  const auto model = copy_of_model(tiny_model(), folder / "model");
  const auto trained = copy_of_run(tiny_model(), folder / "run");
  for (const auto& saved : {model, trained}) {
    const std::string section = "\n  attention:\n";
    auto config = read_text(saved / "config.yaml");
    config.insert(config.find(section) + section.size(), "    estimator: reinforce\n");
    write_text(saved / "config.yaml", config);
  }
  const auto source = (tiny_model().parent_path() / "dev.en").string();
  const auto translated = run({"translate", "-m", model.string(), "-i", source});
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(translated.out, tiny_translation());
  const auto reported = run({"report", trained.string()});
  EXPECT_EQ(reported.code, 0) << reported.err;
}

}  // namespace
}  // namespace regard::formats_test
