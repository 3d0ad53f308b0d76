// Models of kind language_model in train, score, translate and shallow fusion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/train.h"

namespace regard::language_model_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LanguageModel : public testing::Test {
 protected:
  void SetUp() override {
    toy_training(folder_);
    write_text(config_,
               "name: toy\n"
               "data:\n"
               "  train: [{trg: " +
                   path("train.fr") +
                   "}]\n"
                   "  dev: {trg: " +
                   path("dev.fr") +
                   "}\n"
                   "  tokenizer: {kind: word}\n"
                   "model:\n"
                   "  kind: language_model\n"
                   "  decoder: {embedding_dim: 16, hidden_size: 16, readout_size: 16}\n"
                   "training:\n"
                   "  model_dir: " +
                   path("lm") +
                   "\n"
                   "  max_steps: 60\n"
                   "  validation_every: 30\n"
                   "  early_stopping_metric: perplexity\n"
                   "  learning_rate: 0.01\n");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Finished train(const Words& overrides = {}) const {
    return run(Words{"train", "-c", config_.string()} + overrides);
  }
  std::vector<double> scores(const Words& options = {}) const {
    const auto scored = run(Words{"score", "-m", path("lm"), "-t", path("dev.fr")} + options);
    EXPECT_EQ(scored.code, 0) << scored.err;
    std::vector<double> found;
    for (const auto& line : lines_of(scored.out)) found.push_back(std::stod(line));
    return found;
  }

  fs::path folder_ = fresh_folder();
  fs::path config_ = folder_ / "lm.yaml";
};

const Words transformer = {"model.decoder.kind=transformer", "model.decoder.heads=2",
                           "model.decoder.feed_forward_size=32", "model.decoder.layers=2",
                           "model.decoder.readout_size=512"};

TEST_F(LanguageModel, LearnsFromTheTargetSideAlone) {
  for (const auto& kind : {Words{}, transformer}) {
    const auto trained = train(kind + Words{"--fresh"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_THAT(trained.err, AllOf(HasSubstr("validation at step 60: loss"), Not(HasSubstr("BLEU")),
                                   HasSubstr("best so far")));
    EXPECT_THAT(read_text(folder_ / "lm" / "validations.tsv"), HasSubstr("\t\t"));  // no BLEU
    // Perplexity of 20 words: below that of equally probable ones, and what validation found.
    const auto summary =
        run({"score", "-m", path("lm"), "-t", path("dev.fr"), "--json", "--precision", "fp32"});
    const auto perplexity = parse_json(summary.out).at("perplexity").get<double>();
    EXPECT_GT(perplexity, 1);
    EXPECT_LT(perplexity, 20);
    EXPECT_THAT(run({"info", path("lm")}).out, HasSubstr("perplexity"));
  }
}

TEST_F(LanguageModel, ScoresDoNotDependOnTheBatchAndASourceIsAnError) {
  ASSERT_EQ(train().code, 0);
  const auto alone = scores();
  EXPECT_EQ(alone.size(), 20U);
  const auto with_source =
      run({"score", "-m", path("lm"), "-s", path("dev.en"), "-t", path("dev.fr")});
  EXPECT_EQ(with_source.code, 2);
  EXPECT_THAT(with_source.err, HasSubstr("which reads no source; leave out -s"));
  EXPECT_EQ(scores({"--batch-size", "1", "--threads", "1"}), alone);
  EXPECT_THAT(run({"score", "-m", path("lm"), "-t", path("dev.fr"), "--words"}).out,
              HasSubstr("</s>="));
}

TEST_F(LanguageModel, ContinuesEachLineAndAnEmptyOneFromTheBeginning) {
  ASSERT_EQ(train().code, 0);
  const auto word =
      read_text(folder_ / "dev.fr").substr(0, read_text(folder_ / "dev.fr").find(' '));
  const auto input = word + "\n\n";
  const Words sampled = {"translate", "-m", path("lm"), "--samples", "3", "--seed", "4"};
  const auto found = run(sampled, input);
  ASSERT_EQ(found.code, 0) << found.err;
  const auto lines = lines_of(found.out);
  ASSERT_EQ(lines.size(), 6U) << found.out;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(lines[i], HasSubstr(word));
  EXPECT_EQ(run(sampled, input).out, found.out);
  const auto best = run({"translate", "-m", path("lm")}, input);
  ASSERT_EQ(lines_of(best.out).size(), 2U);
  EXPECT_EQ(best.out.substr(0, word.size()), word);
}

TEST_F(LanguageModel, AKilledRunResumesToTheSameBytes) {
  const Words saving = {"training.save_every=5"};
  ASSERT_EQ(train(saving + Words{"training.model_dir=" + path("once")}).code, 0);
  const auto checkpoints = path("lm") + "/checkpoints";
  const auto script = std::string(REGARD_BINARY_DIR) + "/regard train -c " + config_.string() +
                      " " + saving[0] + " 2>/dev/null & pid=$!; until [ -e " + checkpoints +
                      "/step-00000010 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.002; done; "
                      "kill -9 $pid; wait $pid 2>/dev/null; [ $? = 137 ]";
  ASSERT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0)
      << "it ended before it was killed";
  ASSERT_TRUE(fs::exists(checkpoints));
  ASSERT_FALSE(fs::exists(checkpoints + "/step-00000060"));
  ASSERT_EQ(train(saving).code, 0);
  const auto weights = [&](const std::string& run) {
    return read_text(folder_ / run / "best" / "model.safetensors");
  };
  EXPECT_EQ(weights("lm"), weights("once"));
}

class Fusion : public LanguageModel {
 protected:
  void SetUp() override {
    LanguageModel::SetUp();
    // The vocabulary of the tiny model.
    const auto vocabulary = (tiny_model() / "best" / "target.vocabulary").string();
    const auto trained = train({"data.tokenizer.trg_file=" + vocabulary});
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  Finished translate(const Words& options) const {
    return run(Words{"translate", "-m", tiny_model().string(), "-i", path("dev.en"), "--n-best",
                     "2", "--precision", "fp32"} +
               options);
  }
};

TEST_F(Fusion, AddsTheWeightedLogProbabilitiesOfTheLanguageModel) {
  const auto plain = translate({});
  EXPECT_EQ(translate({"--lm", path("lm"), "--lm-weight", "0"}).out, plain.out);
  const auto fused = translate({"--lm", path("lm"), "--lm-weight", "0.5"});
  ASSERT_EQ(fused.code, 0) << fused.err;
  EXPECT_NE(fused.out, plain.out);
  EXPECT_EQ(lines_of(fused.out).size(), lines_of(plain.out).size());
  EXPECT_EQ(
      translate({"--lm", path("lm"), "--lm-weight", "0.5", "--batch-size", "1", "--threads", "1"})
          .out,
      fused.out);
}

TEST_F(Fusion, NeedsALanguageModelWithTheSameVocabulary) {
  const auto refused = [&](const Words& options) {
    const auto result = translate(options);
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(refused({"--lm", tiny_model().string()}),
              HasSubstr("found a model of kind translation, expected language_model"));
  ASSERT_EQ(train({"training.model_dir=" + path("other"), "data.tokenizer.vocabulary_size=9"}).code,
            0);
  EXPECT_THAT(refused({"--lm", path("other")}),
              AllOf(HasSubstr("vocabulary differs"), HasSubstr("data.tokenizer.trg_file")));
  const auto both = run({"translate", "-m", path("lm"), "--lm", path("lm")}, "a\n");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("is a language model too"));
}

TEST_F(Fusion, OutputsThatShowOneModelAreRefused) {
  const Words shown[] = {
      Words{"--explain"},
      {"--report", path("report.html")},
      {"--attention-weights", path("weights.json"), "--attention-map", "encoder"}};
  for (const auto& option : shown) {
    const auto refused = run(
        Words{"translate", "-m", tiny_model().string(), "-i", path("dev.en"), "--lm", path("lm")} +
        option);
    EXPECT_EQ(refused.code, 2) << option[0] << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("shows one model: give one with -m and none with --lm"));
  }
}

TEST_F(LanguageModel, OptionsThatItDoesNotReadAreErrors) {
  const auto refused = [&](const std::string& override) {
    const auto result = train({override});
    EXPECT_EQ(result.code, 2) << override;
    return result.err;
  };
  EXPECT_THAT(refused("model.encoder.layers=2"), HasSubstr("only a model with an encoder uses it"));
  EXPECT_THAT(refused("data.noise.mask=0.1"), HasSubstr("only a model with an encoder uses it"));
  EXPECT_THAT(refused("model.attention.kind=dot"), HasSubstr("only a model of kind translation"));
  EXPECT_THAT(refused("data.tokenizer.joint=true"), HasSubstr("set joint to false"));
  EXPECT_THAT(refused("training.early_stopping_metric=bleu"),
              HasSubstr("set the metric to perplexity or loss"));
}

TEST_F(LanguageModel, CannotBeginFromATranslator) {
  const auto begun = train({"--init-from", tiny_model().string()});
  EXPECT_EQ(begun.code, 2);
  EXPECT_THAT(begun.err, HasSubstr("found a model of kind translation, but model.kind is "
                                   "language_model"));
}

TEST_F(LanguageModel, ASourceTagIsAnError) {
  ASSERT_EQ(train({"data.tokenizer.user_symbols=[<a>]"}).code, 0);
  const auto scored = run({"score", "-m", path("lm"), "-t", path("dev.fr"), "--src-tag", "<a>"});
  EXPECT_EQ(scored.code, 2);
  EXPECT_THAT(scored.err, HasSubstr("found the source tag <a>, but a language model reads no"));
}

TEST_F(LanguageModel, CommandsThatNeedATranslationSayWhatToUse) {
  ASSERT_EQ(train().code, 0);
  const auto evaluated =
      run({"evaluate", "-m", path("lm"), "-s", path("dev.en"), "-r", path("dev.fr")});
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_THAT(evaluated.err, HasSubstr("regard score"));
  const auto scored = run({"score", "-m", tiny_model().string(), "-t", path("dev.fr")});
  EXPECT_EQ(scored.code, 2);
  EXPECT_THAT(scored.err, HasSubstr("expected its source too, -s FILE"));
}

}  // namespace
}  // namespace regard::language_model_test
