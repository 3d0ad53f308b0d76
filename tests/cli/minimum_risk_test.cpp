// regard train with training.objective: minimum_risk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/train_together.h"

namespace regard::cli_minimum_risk_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class MinimumRiskTraining : public TrainTogether {
 protected:
  // Returns the arguments of a fine-tuning of `model` into folder_/name.
  Words into(const std::string& name, const fs::path& model = tiny_model()) const {
    return {"--init-from",
            model.string(),
            "training.model_dir=" + path(name),
            "training.objective=minimum_risk",
            "training.minimum_risk.samples=8",
            "training.learning_rate=0.001",
            "training.max_steps=20",
            "training.logging_every=4",
            "training.validation_every=10"};
  }
  std::vector<Json> log_of(const std::string& name) const {
    std::vector<Json> entries;
    for (const auto& line : lines_of(read_text(folder_ / name / "train.jsonl"))) {
      entries.push_back(parse_json(line));
    }
    return entries;
  }
};

TEST_F(MinimumRiskTraining, FineTunesATrainedModelAndLogsTheRisk) {
  const auto result = train(into("risk"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("the expected risk, 1 − BLEU, of 8 samples of each "
                                          "sentence and its reference"),
                                HasSubstr("  risk 0.")));
  const auto entries = log_of("risk");
  ASSERT_EQ(entries.size(), 5u);
  for (const auto& entry : entries) {
    EXPECT_GT(entry.at("risk").get<double>(), 0);
    EXPECT_LT(entry.at("risk").get<double>(), 1);
    EXPECT_GT(entry.at("loss").get<double>(), 0);
  }
  EXPECT_FALSE(log_of(tiny_model().string()).at(0).contains("risk"));
  const auto translated = run({"translate", "-m", path("risk"), "-i", path("dev.en")});
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST_F(MinimumRiskTraining, ADryRunSamplesToo) {
  const auto result = train(into("risk") + Words{"--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Nothing was written"));
}

TEST_F(MinimumRiskTraining, AKilledAndResumedRunEndsInTheSameBytes) {
  const Words more = {"training.save_every=3",
                      "training.max_steps=40",
                      "training.minimum_risk.metric=chrf",
                      "training.minimum_risk.likelihood_weight=0.1",
                      "model.dropout.states=0.2",
                      "training.gradient_accumulation=2"};
  ASSERT_EQ(train(into("once") + more).code, 0);
  kill_after_checkpoint(into("killed") + more, "killed", 6);
  const auto resumed = train(into("killed") + more);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("Resuming from step"));
  EXPECT_EQ(weights("killed"), weights("once"));
  const auto expected = log_of("once");
  const auto found = log_of("killed");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].at("risk"), expected[i].at("risk"));
    EXPECT_EQ(found[i].at("loss"), expected[i].at("loss"));
  }
}

TEST_F(MinimumRiskTraining, TransformersCopyOutputsAndHardAttentionFineTune) {
  const std::vector<Words> models = {
      as_transformer(),
      {"model.output.kind=copy"},
      {"model.output.kind=copy", "data.tokenizer.kind=character", "data.tokenizer.joint=true"},
      {"model.attention.size=512", "model.attention.kind=hard"},  // which has no size
      {"model.attention.kind=monotonic"},
  };
  for (const auto& model : models) {
    SCOPED_TRACE(model.back());
    ASSERT_EQ(train(model + Words{"--fresh", "training.max_steps=10"}).code, 0);
    const auto result =
        train(model + into("risk", path("run")) + Words{"--fresh", "training.max_steps=3"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(MinimumRiskTraining, SeveralProcessesLearnLikeOneWithAllThreads) {
  const Words more = {"training.precision=fp32", "training.logging_every=1",
                      "training.max_steps=10"};
  ASSERT_EQ(train(into("alone") + more + Words{"threads=2"}).code, 0);
  for (const auto& process : train_together(2, into("together") + more)) {
    EXPECT_EQ(process.code, 0) << process.err;
  }
  const auto expected = log_of("alone");
  const auto found = log_of("together");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto* key : {"loss", "risk"}) {
      const auto value = expected[i].at(key).get<double>();
      EXPECT_NEAR(found[i].at(key).get<double>(), value, 1e-3 * value) << key << " at " << i;
    }
  }
}

TEST_F(MinimumRiskTraining, WhatCannotWorkIsAnErrorThatNamesItsKeys) {
  const auto refused =
      train({"training.objective=minimum_risk", "training.r_drop=4", "model.dropout.states=0.1"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err,
              HasSubstr("training.objective is minimum_risk, but training.r_drop is 4"));
}

}  // namespace
}  // namespace regard::cli_minimum_risk_test
