// regard train with training.objective: minimum_risk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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
  // Returns the arguments of a fine-tuning into folder_/name that starts from folder_/run.
  Words into(const std::string& name) const {
    return {"--init-from",
            (folder_ / "run").string(),
            "training.model_dir=" + (folder_ / name).string(),
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
  std::string weights_of(const std::string& name) const { return weights(name); }
};

TEST_F(MinimumRiskTraining, FineTunesATrainedModelAndLogsTheRisk) {
  ASSERT_EQ(train().code, 0);
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
  EXPECT_FALSE(log_of("run").at(0).contains("risk"));
  const auto translated =
      run({"translate", "-m", (folder_ / "risk").string(), "-i", (folder_ / "dev.en").string()});
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST_F(MinimumRiskTraining, ADryRunSamplesToo) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto result = train(into("risk") + Words{"--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Nothing was written"));
}

TEST_F(MinimumRiskTraining, AKilledAndResumedRunEndsInTheSameBytes) {
  ASSERT_EQ(train({"training.max_steps=30"}).code, 0);
  const Words more = {"training.save_every=3",
                      "training.max_steps=40",
                      "training.minimum_risk.metric=chrf",
                      "training.minimum_risk.likelihood_weight=0.1",
                      "model.dropout.states=0.2",
                      "training.gradient_accumulation=2"};
  ASSERT_EQ(train(into("once") + more).code, 0);
  std::string command = std::string(REGARD_BINARY_DIR) + "/regard train -c " + config_.string();
  for (const auto& argument : into("killed") + more) command += " " + argument;
  const auto killed = folder_ / "killed";
  const auto script = command + " 2>/dev/null & pid=$!; until [ -e " + killed.string() +
                      "/checkpoints/step-00000006 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; "
                      "done; kill -9 $pid; wait $pid 2>/dev/null";
  const int ignored = std::system(("bash -c '" + script + "'").c_str());
  (void)ignored;
  ASSERT_FALSE(fs::is_empty(killed / "checkpoints"));
  ASSERT_FALSE(fs::exists(killed / "checkpoints" / "step-00000040")) << "ended too soon";
  ASSERT_EQ(train(into("killed") + more).code, 0);
  EXPECT_EQ(weights_of("killed"), weights_of("once"));
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
    const auto result = train(model + into("risk") + Words{"--fresh", "training.max_steps=3"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(MinimumRiskTraining, SeveralProcessesLearnLikeOneWithAllThreads) {
  ASSERT_EQ(train({"training.max_steps=30"}).code, 0);
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
  const auto refused = [&](const Words& more) {
    const auto result = train(Words{"training.objective=minimum_risk"} + more);
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(refused({"training.r_drop=4", "model.dropout.states=0.1"}),
              HasSubstr("training.objective is minimum_risk, but training.r_drop is 4"));
  EXPECT_THAT(refused({"model.attention.kind=hard", "model.attention.estimator=reinforce"}),
              HasSubstr("set estimator to gumbel"));
  EXPECT_THAT(refused({"training.minimum_risk.samples=1"}),
              AllOf(HasSubstr("training.minimum_risk.samples"), HasSubstr("between 2 and 1000")));
  EXPECT_THAT(refused({"training.minimum_risk.metric=ter"}), HasSubstr("bleu"));
  const auto unused = train({"training.minimum_risk.samples=50"});
  EXPECT_EQ(unused.code, 2);
  EXPECT_THAT(unused.err, HasSubstr("only training.objective: minimum_risk uses it"));
  EXPECT_THAT(refused({"model.kind=language_model", "data.train.0.src=\"\"", "data.dev.src=\"\"",
                       "training.early_stopping_metric=perplexity"}),
              HasSubstr("nothing is translated; set objective to likelihood"));
}

}  // namespace
}  // namespace regard::cli_minimum_risk_test
