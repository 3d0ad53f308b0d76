// Tests of the configurations in configs/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "config/check.h"
#include "config/reader.h"
#include "tests/config/differences.h"

namespace regard::configs_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;

const fs::path folder = fs::path(REGARD_SOURCE_DIR) / "configs";

TEST(Configs, AllAreValidForTraining) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(check_training_options(read_options(entry.path())));
  }
  EXPECT_GE(count, 4);
}

TEST(Configs, AllHaveTheNameOfTheirFileAndNameTheSchema) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_EQ(read_options(entry.path()).name, entry.path().stem().string());
    EXPECT_THAT(read_file<ConfigError>(entry.path(), "configuration"),
                ::testing::StartsWith("# yaml-language-server: $schema=schema.json\n"));
  }
}

TEST(Configs, FixedContextDiffersOnlyInAttention) {
  const Options attention = read_options(folder / "multi30k.yaml");
  const Options fixed = read_options(folder / "multi30k_fixed_context.yaml");
  EXPECT_THAT(difference_texts(attention, fixed),
              ElementsAre("name: multi30k → multi30k_fixed_context",
                          "model.attention.kind: additive → none",
                          "model.attention.size: 256 → 512"));  // unused by none
}

TEST(Configs, FastDiffersOnlyInStepsAndLearningRate) {
  EXPECT_THAT(difference_texts(read_options(folder / "multi30k.yaml"),
                               read_options(folder / "multi30k_fast.yaml")),
              ElementsAre("name: multi30k → multi30k_fast", "training.max_steps: 12000 → 6000",
                          "training.learning_rate: 0.001 → 0.0013"));
}

TEST(Configs, FastTransformerDiffersOnlyInTheSchedule) {
  EXPECT_THAT(
      difference_texts(read_options(folder / "multi30k_transformer.yaml"),
                       read_options(folder / "multi30k_transformer_fast.yaml")),
      ElementsAre("name: multi30k_transformer → multi30k_transformer_fast",
                  "training.max_steps: 8000 → 4000", "training.moving_average: 0.999 → 0.998",
                  "training.warmup_steps: 2000 → 1000", "training.validation_every: 500 → 400"));
}

TEST(Configs, BestDiffersOnlyInTheQueryAndTheSchedule) {
  EXPECT_THAT(
      difference_texts(read_options(folder / "multi30k.yaml"),
                       read_options(folder / "multi30k_best.yaml")),
      ElementsAre("name: multi30k → multi30k_best", "model.decoder.query: auto → between",
                  "training.max_steps: 12000 → 16000", "training.learning_rate: 0.001 → 0.003",
                  "training.moving_average: 0 → 0.999",
                  "training.scheduling: cosine → inverse_square_root",
                  "training.warmup_steps: 400 → 1000", "training.learning_rate_min: 1e-05 → 0"));
}

TEST(Configs, BestTransformerDiffersOnlyInSizesPositionsDropoutAndSchedule) {
  EXPECT_THAT(
      difference_texts(read_options(folder / "multi30k_transformer.yaml"),
                       read_options(folder / "multi30k_transformer_best.yaml")),
      Each(ContainsRegex("^name|embedding_dim|hidden_size|layers|feed_forward_size|position"
                         "|dropout.embeddings|dropout.states|max_steps|batch_size|learning_rate"
                         "|warmup_steps")));
}

TEST(Configs, DiverseTransformerDiffersOnlyInDataDropoutAndLengthNormalisation) {
  EXPECT_THAT(
      difference_texts(read_options(folder / "multi30k_transformer_best.yaml"),
                       read_options(folder / "multi30k_transformer_diverse.yaml")),
      Each(ContainsRegex("^name|^data.train|^data.tokenizer.(src|trg)_file|dropout.embeddings"
                         "|dropout.states|beam_alpha")));
}

TEST(Configs, TransformersHaveTheDataAndSearchOfTheRecurrentModels) {
  const std::pair<const char*, const char*> pairs[] = {
      {"multi30k.yaml", "multi30k_transformer.yaml"},
      {"multi30k.yaml", "multi30k_transformer_best.yaml"},
      {"quickstart.yaml", "transformer.yaml"}};
  for (const auto& [recurrent, transformer] : pairs) {
    for (const auto& difference :
         difference_texts(read_options(folder / recurrent), read_options(folder / transformer))) {
      EXPECT_THAT(difference, ::testing::MatchesRegex("(name|model|training).*"));
    }
  }
}

}  // namespace
}  // namespace regard::configs_test
