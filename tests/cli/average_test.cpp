#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/json.h"
#include "tests/cli/run.h"

namespace regard::average_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Average : public CliTest {
 protected:
  // A run that keeps its checkpoints of steps 30 and 60.
  fs::path long_run() const {
    return copy_of_run(trained_once("tiny_long", {"training.keep_newest=2"}), folder_ / "run");
  }
  Finished average(const Words& words) const {
    return run(Words{"average"} + words + Words{"-o", output_.string()});
  }
  // Returns the description of the averaged models.
  std::string averaged() const {
    return Json::parse(read_text(output_ / "manifest.json")).at("info").at("average_of").dump();
  }

  const fs::path output_ = folder_ / "mean";
};

TEST_F(Average, AveragesTheNewestCheckpoints) {
  const auto kept = long_run() / "checkpoints";
  const auto finished = average({kept.parent_path().string(), "--last", "2"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("mean of 2 models"));
  EXPECT_EQ(averaged(), Json({kept / "step-00000060", kept / "step-00000030"}).dump());
}

TEST_F(Average, AveragesTheBestCheckpoints) {
  const auto finished = average({tiny_model().string(), "--best", "1"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto best = fs::canonical(tiny_model() / "best").filename().string();
  EXPECT_THAT(averaged(), HasSubstr(best));
}

TEST_F(Average, DoesNotWriteIntoARun) {
  const auto trained = long_run();
  const auto finished = run({"average", trained.string(), "--last", "2", "-o", trained.string()});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("is a training run"));
  EXPECT_TRUE(fs::exists(trained / "checkpoints" / "step-00000030" / "model.safetensors"));
  EXPECT_TRUE(fs::exists(trained / "validations.tsv"));
}

TEST_F(Average, AveragesNamedModels) {
  const auto early = long_run() / "checkpoints" / "step-00000030";
  const auto finished = average({early.string(), tiny_model().string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(averaged(), HasSubstr("step-00000030"));
}

TEST_F(Average, RefusesModelsThatWereTrainedIndependently) {
  const auto config = toy_training(folder_);
  const auto other = (config.parent_path() / "run").string();
  const auto train = [&](Words more) {
    const auto finished = run(Words{"train", "-c", config.string(), "training.max_steps=2"} + more);
    ASSERT_EQ(finished.code, 0) << finished.err;
  };
  train({"training.random_seed=7"});
  const auto refused = average({tiny_model().string(), other});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("do not descend from the same initial weights"));
  EXPECT_THAT(refused.err, HasSubstr("ensemble"));
  EXPECT_FALSE(fs::exists(output_));
  EXPECT_EQ(average({tiny_model().string(), other, "--force"}).code, 0);

  // Both start from one model, with other seeds.
  const auto child = [&](const std::string& name, const std::string& seed) {
    const auto folder = (config.parent_path() / name).string();
    train({"--init-from", tiny_model().string(), "training.model_dir=" + folder,
           "training.random_seed=" + seed});
    return folder;
  };
  const auto a = child("a", "1");
  EXPECT_EQ(average({a, child("b", "2")}).code, 0);
  EXPECT_EQ(average({a, tiny_model().string()}).code, 0);
  // A resumed run keeps its descent.
  train({"training.model_dir=" + a, "training.max_steps=4", "training.random_seed=1"});
  EXPECT_EQ(average({a, tiny_model().string()}).code, 0);
}

TEST_F(Average, AverageWithItselfTranslatesTheSame) {
  ASSERT_EQ(average({tiny_model().string(), tiny_model().string()}).code, 0);
  const auto source = toy_corpus(20, 9).source;
  const auto mean = run({"translate", "-m", output_.string(), "--n-best", "2"}, source);
  ASSERT_EQ(mean.code, 0) << mean.err;
  EXPECT_EQ(mean.out, run({"translate", "-m", tiny_model().string(), "--n-best", "2"}, source).out);
  const auto info = run({"info", output_.string()});
  EXPECT_THAT(info.out, HasSubstr("the mean of 2 models"));
}

TEST_F(Average, RejectsDifferentArchitectures) {
  const auto finished = average({tiny_model().string(), tiny_fixed_context().string()});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("model.attention.kind"));
  EXPECT_FALSE(fs::exists(output_));
}

TEST_F(Average, RejectsDifferentVocabularies) {
  auto config = toy_training(folder_);
  auto text = read_text(config.parent_path() / "train.en");
  for (std::size_t at = 0; (at = text.find("cat", at)) != std::string::npos;)
    text.replace(at, 3, "cow");
  write_text(config.parent_path() / "train.en", text);
  ASSERT_EQ(run({"train", "-c", config.string(), "training.max_steps=1"}).code, 0);
  const auto finished = average({tiny_model().string(), (config.parent_path() / "run").string()});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("its vocabulary differs from that of"));
}

TEST_F(Average, ReportsInvalidSelections) {
  const auto too_many = average({tiny_model().string(), "--last", "9"});
  EXPECT_EQ(too_many.code, 5);
  EXPECT_THAT(too_many.err,
              HasSubstr("expected 9; training.keep_newest sets how many a run keeps"));
  const auto too_many_best = average({tiny_model().string(), "--best", "9"});
  EXPECT_THAT(too_many_best.err,
              HasSubstr("expected 9; training.keep_best sets how many a run keeps"));
  const auto one = average({tiny_model().string()});
  EXPECT_EQ(one.code, 2);
  EXPECT_THAT(one.err, HasSubstr("--last N"));
  const auto two = average({tiny_model().string(), tiny_model().string(), "--best", "1"});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("needs one run folder, found 2 models"));
}

TEST_F(Average, DoesNotOverwriteItsInput) {
  const auto carried = copy_of_model(tiny_model(), folder_ / "carried");
  const auto before = read_text(carried / "manifest.json");
  const auto finished =
      run({"average", carried.string(), tiny_model().string(), "-o", carried.string()});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(read_text(carried / "manifest.json"), before);
}

TEST_F(Average, ConcurrentRunsLeaveOneIntactModel) {
  for (const auto* name : {".mean.tmp", ".mean.old"}) {
    fs::create_directories(folder_ / name);
    write_text(folder_ / name / "diary", "dear");
  }
  const Words words = {"average", tiny_model().string(), tiny_model().string(), "-o",
                       output_.string()};
  for (int i = 0; i < 4; ++i) {
    Running first(words), second(words);
    EXPECT_EQ(first.finish().code, 0);
    EXPECT_EQ(second.finish().code, 0);
    EXPECT_EQ(run({"info", output_.string()}).code, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
  EXPECT_EQ(read_text(folder_ / ".mean.tmp" / "diary"), "dear");
  EXPECT_EQ(read_text(folder_ / ".mean.old" / "diary"), "dear");
}

}  // namespace
}  // namespace regard::average_test
