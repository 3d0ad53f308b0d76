#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "tests/cli/train.h"

namespace regard::info_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Info, DescribesARun) {
  const auto finished = run({"info", tiny_model().string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const auto* part :
       {"attention  additive, size 16", "tokenizer  word", "output_weight", "train.en",
        "perplexity", "these weights  step", "step-00000060", "last",
        "optimizer  adam, learning rate 1.0e-2, constant", "batches  32 sentences",
        "stopped  at step 60: training.max_steps reached (60)"}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
}

TEST(Info, PrintsOneJsonObject) {
  const auto finished = run({"info", "--json", tiny_model().string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto json = Json::parse(finished.out);
  EXPECT_EQ(json.at("name"), "tiny");
  EXPECT_EQ(json.at("attention"), "additive");
  EXPECT_EQ(json.at("tokenizer").at("source"), 16);  // 12 words and the four special entries
  const auto& run = json.at("run");
  ASSERT_EQ(run.at("validations").size(), 2u);
  EXPECT_EQ(run.at("validations")[0].at("step"), 30);
  EXPECT_TRUE(run.at("validations")[1].at("bleu").is_number());
  EXPECT_EQ(run.at("last"), "step-00000060");
  EXPECT_EQ(run.at("manifest").at("data")[0].at("lines"), 200);
}

TEST(Info, AcceptsAModelFolder) {
  const auto folder = copy_of_model(tiny_model(), fresh_folder() / "carried_off");
  const auto finished = run({"info", "--json", folder.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto json = Json::parse(finished.out);
  EXPECT_GT(json.at("parameters"), 0);
  EXPECT_FALSE(json.contains("run"));
}

TEST(Info, NamesTheOriginOfAQuantizedModel) {
  const auto folder = (fresh_folder() / "quantized").string();
  ASSERT_EQ(run({"quantize", tiny_model().string(), "-o", folder}).code, 0);
  EXPECT_THAT(run({"info", folder}).out,
              testing::ContainsRegex("\nthese weights  quantized from .*/step-[0-9]+\n"));
}

using InfoOfATraining = Train;

TEST_F(InfoOfATraining, SaysThatTheGradientIsNotClipped) {
  ASSERT_EQ(train({"training.max_steps=1", "training.clip_grad_norm=0"}).code, 0);
  EXPECT_THAT(run({"info", path("run")}).out, HasSubstr("sentences, gradient not clipped, label"));
}

TEST_F(InfoOfATraining, ShowsTheMetricThatChoosesBeforeTheStarOfTheBest) {
  ASSERT_EQ(train({"training.max_steps=2", "training.early_stopping_metric=exact"}).code, 0);
  EXPECT_THAT(run({"info", path("run")}).out, testing::ContainsRegex("step .* exact +best\n"));
}

TEST_F(InfoOfATraining, LeavesOutTheTimeBeforeTheFirstValidation) {
  ASSERT_EQ(train({"training.max_steps=2"}).code, 0);
  EXPECT_THAT(run({"info", path("run")}).out, HasSubstr("\ntime to last validation  "));
  std::filesystem::remove(path("run/validations.tsv"));
  EXPECT_THAT(run({"info", path("run")}).out, Not(HasSubstr("time to last validation")));
}

TEST(Info, FolderWithoutAModelIsACheckpointError) {
  const auto finished = run({"info", fresh_folder().string()});
  EXPECT_EQ(finished.code, 5);
  EXPECT_THAT(finished.err, HasSubstr("no model found"));
}

}  // namespace
}  // namespace regard::info_test
