// Models of kind language_model in train, score, translate and shallow fusion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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

class LanguageModel : public CliTest {
 protected:
  Finished train(const Words& overrides = {}) const {
    return run(Words{"train", "-c", config_.string()} + overrides);
  }
  // A model that the tests only read.
  static std::string lm() { return tiny_language_model().string(); }
  std::vector<double> scores(const Words& options = {}) const {
    const auto scored = run(Words{"score", "-m", lm(), "-t", path("dev.fr")} + options);
    EXPECT_EQ(scored.code, 0) << scored.err;
    std::vector<double> found;
    for (const auto& line : lines_of(scored.out)) found.push_back(std::stod(line));
    return found;
  }

  const fs::path config_ = language_model_training(folder_);
};

const Words transformer = {"model.decoder.kind=transformer", "model.decoder.heads=2",
                           "model.decoder.feed_forward_size=32", "model.decoder.layers=2",
                           "model.decoder.readout_size=512"};

TEST_F(LanguageModel, LearnsFromTheTargetSideAlone) {
  const auto trained = train(transformer);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("validation at step 60: loss"), Not(HasSubstr("BLEU")),
                                 HasSubstr("best so far")));
  for (const auto& model : {path("run"), lm()}) {
    EXPECT_THAT(read_text(model + "/validations.tsv"), HasSubstr("\t\t"));  // no BLEU
    // Perplexity of 20 words: below that of equally probable ones, and what validation found.
    const auto summary =
        run({"score", "-m", model, "-t", path("dev.fr"), "--json", "--precision", "fp32"});
    const auto perplexity = parse_json(summary.out).at("perplexity").get<double>();
    EXPECT_GT(perplexity, 1);
    EXPECT_LT(perplexity, 20);
    EXPECT_THAT(run({"info", model}).out, HasSubstr("perplexity"));
  }
}

TEST_F(LanguageModel, ScoresDoNotDependOnTheBatchAndASourceIsAnError) {
  const auto alone = scores();
  EXPECT_EQ(alone.size(), 20U);
  const auto with_source = run({"score", "-m", lm(), "-s", path("dev.en"), "-t", path("dev.fr")});
  EXPECT_EQ(with_source.code, 2);
  EXPECT_THAT(with_source.err, HasSubstr("which reads no source; leave out -s"));
  EXPECT_EQ(scores({"--batch-size", "1", "--threads", "2"}), alone);
  EXPECT_THAT(run({"score", "-m", lm(), "-t", path("dev.fr"), "--words"}).out, HasSubstr("</s>="));
}

TEST_F(LanguageModel, ContinuesEachLineAndAnEmptyOneFromTheBeginning) {
  const auto word =
      read_text(folder_ / "dev.fr").substr(0, read_text(folder_ / "dev.fr").find(' '));
  const auto input = word + "\n\n";
  const Words sampled = {"translate", "-m", lm(), "--samples", "3", "--seed", "4"};
  const auto found = run(sampled, input);
  ASSERT_EQ(found.code, 0) << found.err;
  const auto lines = lines_of(found.out);
  ASSERT_EQ(lines.size(), 6U) << found.out;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(lines[i], HasSubstr(word));
  EXPECT_EQ(run(sampled, input).out, found.out);
  const auto best = run({"translate", "-m", lm()}, input);
  ASSERT_EQ(lines_of(best.out).size(), 2U);
  EXPECT_EQ(best.out.substr(0, word.size()), word);
}

TEST_F(LanguageModel, AStoppedRunResumesToTheSameBytes) {
  ASSERT_EQ(train({"training.max_steps=25"}).code, 0);
  ASSERT_EQ(train().code, 0);
  EXPECT_EQ(read_text(path("run") + "/last/model.safetensors"),
            read_text(lm() + "/last/model.safetensors"));
}

class Fusion : public LanguageModel {
 protected:
  Finished translate(const Words& options) const {
    return run(Words{"translate", "-m", tiny_model().string(), "-i", path("dev.en"), "--n-best",
                     "2", "--precision", "fp32"} +
               options);
  }

  // Has the vocabulary of the tiny model.
  const std::string fused_ = trained_once("tiny_fused",
                                          {"data.tokenizer.trg_file=" +
                                           (tiny_model() / "best" / "target.vocabulary").string()},
                                          language_model_training)
                                 .string();
};

TEST_F(Fusion, AddsTheWeightedLogProbabilitiesOfTheLanguageModel) {
  const auto plain = translate({});
  EXPECT_EQ(translate({"--lm", fused_, "--lm-weight", "0"}).out, plain.out);
  const auto fused = translate({"--lm", fused_, "--lm-weight", "0.5"});
  ASSERT_EQ(fused.code, 0) << fused.err;
  EXPECT_NE(fused.out, plain.out);
  EXPECT_EQ(lines_of(fused.out).size(), lines_of(plain.out).size());
  EXPECT_EQ(
      translate({"--lm", fused_, "--lm-weight", "0.5", "--batch-size", "1", "--threads", "1"}).out,
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
  ASSERT_EQ(train({"training.model_dir=" + path("other"), "data.tokenizer.vocabulary_size=9",
                   "training.max_steps=1"})
                .code,
            0);
  EXPECT_THAT(refused({"--lm", path("other")}),
              AllOf(HasSubstr("vocabulary differs"), HasSubstr("data.tokenizer.trg_file")));
  const auto both = run({"translate", "-m", fused_, "--lm", fused_}, "a\n");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("is a language model too"));
}

TEST_F(Fusion, OutputsThatShowOneModelAreRefused) {
  const Words shown[] = {
      Words{"--explain"},
      {"--report", path("report.html")},
      {"--attention-weights", path("weights.json"), "--attention-map", "encoder"}};
  for (const auto& option : shown) {
    const auto refused =
        run(Words{"translate", "-m", tiny_model().string(), "-i", path("dev.en"), "--lm", fused_} +
            option);
    EXPECT_EQ(refused.code, 2) << option[0] << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("shows one model: give one with -m and none with --lm"));
  }
}

TEST_F(LanguageModel, HasNoAttentionToASource) {
  const auto refused = run({"translate", "-m", lm(), "--alignments", path("links")}, "le chat\n");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no attention to a source (model.kind: language_model)"));
}

TEST_F(LanguageModel, OptionsThatItDoesNotReadAreErrors) {
  const auto refused = train({"model.encoder.layers=2"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("only a model with an encoder uses it"));
}

TEST_F(LanguageModel, CannotBeginFromATranslator) {
  const auto begun = train({"--init-from", tiny_model().string()});
  EXPECT_EQ(begun.code, 2);
  EXPECT_THAT(begun.err, HasSubstr("found a model of kind translation, but model.kind is "
                                   "language_model"));
}

TEST_F(LanguageModel, ASourceTagIsAnError) {
  ASSERT_EQ(train({"data.tokenizer.user_symbols=[<a>]", "training.max_steps=1"}).code, 0);
  const auto scored = run({"score", "-m", path("run"), "-t", path("dev.fr"), "--src-tag", "<a>"});
  EXPECT_EQ(scored.code, 2);
  EXPECT_THAT(scored.err, HasSubstr("found the source tag <a>, but a language model reads no"));
}

TEST_F(LanguageModel, CommandsThatNeedATranslationSayWhatToUse) {
  const auto evaluated = run({"evaluate", "-m", lm(), "-s", path("dev.en"), "-r", path("dev.fr")});
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_THAT(evaluated.err, HasSubstr("regard score"));
  const auto scored = run({"score", "-m", tiny_model().string(), "-t", path("dev.fr")});
  EXPECT_EQ(scored.code, 2);
  EXPECT_THAT(scored.err, HasSubstr("expected its source too, -s FILE"));
}

}  // namespace
}  // namespace regard::language_model_test
