// Masked and denoising pre-training, and translation models that start with their weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/train.h"

namespace regard::pretraining_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto model =
    "model:\n"
    "  kind: KIND\n"
    "  encoder: {kind: transformer, embedding_dim: 16, hidden_size: 16, layers: 2, heads: 2, "
    "feed_forward_size: 32}\n";

// Writes masked.yaml, denoising.yaml and translator.yaml, and returns the first.
fs::path configurations(const fs::path& folder) {
  toy_training(folder);
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  const auto write = [&](const std::string& name, const std::string& data,
                         const std::string& more) {
    auto text = "name: toy\ndata:\n" + data + model + more +
                "training:\n  model_dir: " + path(name) +
                "\n  max_steps: 60\n  validation_every: 30\n" +
                "  early_stopping_metric: perplexity\n  learning_rate: 0.01\n";
    const std::string kind = name == "masked" ? "masked_language_model" : "translation";
    text.replace(text.find("KIND"), 4, kind);
    write_text(folder / (name + ".yaml"), text);
  };
  const auto both = [&](const std::string& file) {
    return "{src: " + path(file) + ", trg: " + path(file) + "}";
  };
  const std::string decoder =
      "  tied_embeddings: all\n"
      "  decoder: {kind: transformer, embedding_dim: 16, hidden_size: 16, layers: 1, heads: 2, "
      "feed_forward_size: 32}\n";
  write("masked",
        "  train: [{trg: " + path("train.en") + "}, {trg: " + path("train.fr") + "}]\n" +
            "  dev: {trg: " + path("dev.fr") + "}\n" +
            "  tokenizer: {kind: word}\n  noise: {mask: 0.15}\n",
        "");
  write("denoising",
        "  train: [" + both("train.en") + ", " + both("train.fr") + "]\n" +
            "  dev: " + both("dev.fr") + "\n" +
            "  tokenizer: {kind: word, joint: true}\n  noise: {mask: 0.3}\n",
        decoder);
  write("translator",
        "  train: [{src: " + path("train.en") + ", trg: " + path("train.fr") + "}]\n" +
            "  dev: {src: " + path("dev.en") + ", trg: " + path("dev.fr") + "}\n" +
            "  tokenizer: {kind: word, joint: true}\n",
        decoder);
  return folder / "masked.yaml";
}

class Pretraining : public CliTest {
 protected:
  void SetUp() override { configurations(folder_); }
  Finished train(const std::string& name, const Words& more = {}) const {
    return run(Words{"train", "-c", path(name + ".yaml"), "--threads", "1"} + more);
  }
  std::string weights(const std::string& name) const {
    return read_text(folder_ / name / "last" / "model.safetensors");
  }
  // A masked model that the tests only read.
  static fs::path masked() {
    const auto run_folder = cli_folder() / "tiny_masked" / "run";
    return trained_once("tiny_masked",
                        {"--threads", "1", "training.model_dir=" + run_folder.string()},
                        configurations);
  }
};

TEST_F(Pretraining, AMaskedModelLearnsAndItsEncoderStartsATranslator) {
  const auto masked = train("masked");
  ASSERT_EQ(masked.code, 0) << masked.err;
  EXPECT_THAT(masked.err,
              AllOf(HasSubstr("validation at step 60: loss"), Not(HasSubstr("BLEU")),
                    HasSubstr("best so far"), HasSubstr("; --init-from uses that checkpoint")));
  EXPECT_THAT(run({"info", path("masked")}).out, HasSubstr("masked language model"));
  const auto reported = run({"report", path("masked")});
  ASSERT_EQ(reported.code, 0) << reported.err;
  EXPECT_THAT(read_text(folder_ / "masked" / "report.html"),
              AllOf(HasSubstr("Learning curves"), HasSubstr("parameters")));

  const auto trained = train("translator", {"--init-from", path("masked"), "training.max_steps=1"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err,
              AllOf(HasSubstr("initial tensors from"),
                    HasSubstr("a model of kind masked_language_model"), HasSubstr("New: decoder")));
  EXPECT_EQ(run({"translate", "-m", path("translator")}, "a\n").code, 0);
}

TEST_F(Pretraining, ATranslatorStartsWithTheEncoderOfTheMaskedModel) {
  // Updates this small change no bit of weights that are not close to 0.
  const auto started = train(
      "translator",
      {"--init-from", masked().string(), "training.max_steps=1", "training.learning_rate=1e-30"});
  ASSERT_EQ(started.code, 0) << started.err;
  const auto from = tensors_of(read_text(masked() / "best" / "model.safetensors"));
  const auto to = tensors_of(weights("translator"));
  int common = 0;
  for (const auto& [name, bytes] : to) {
    if (!name.starts_with("encoder.") || !name.ends_with("weight")) continue;
    EXPECT_EQ(from.at(name), bytes) << name;
    ++common;
  }
  EXPECT_GT(common, 4);
  EXPECT_EQ(from.at("source_embedding"), to.at("source_embedding"));
  // The head of the masked model has a normalisation of the same name as the decoder's.
  EXPECT_NE(from.at("decoder.norm.g"), to.at("decoder.norm.g"));
}

TEST_F(Pretraining, ADenoisingModelReconstructsTextAndStartsATranslatorWhole) {
  const auto denoising = train("denoising");
  ASSERT_EQ(denoising.code, 0) << denoising.err;
  EXPECT_THAT(denoising.err,
              AllOf(HasSubstr("validation at step 60: loss"), Not(HasSubstr("BLEU"))));
  const auto trained =
      train("translator", {"--init-from", path("denoising"), "training.max_steps=1"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("loaded initial weights from"));
}

TEST_F(Pretraining, AStoppedMaskedModelResumesToTheSameBytes) {
  ASSERT_EQ(train("masked", {"training.max_steps=25"}).code, 0);
  ASSERT_EQ(train("masked").code, 0);
  EXPECT_EQ(weights("masked"), read_text(masked() / "last" / "model.safetensors"));
}

TEST_F(Pretraining, AMaskedModelCannotTranslateOrScore) {
  for (const Words& command : {Words{"translate"}, Words{"score", "-t", path("dev.fr")},
                               Words{"evaluate", "-s", path("dev.en"), "-r", path("dev.fr")}}) {
    const auto refused = run(command + Words{"-m", masked().string()}, "a\n");
    EXPECT_EQ(refused.code, 2) << command[0];
    EXPECT_THAT(refused.err, AllOf(HasSubstr("has no decoder"), HasSubstr("--init-from")));
  }
}

TEST_F(Pretraining, OptionsThatContradictTheKindAreErrors) {
  const auto refused = train("masked", {"data.noise.mask=0"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("set it to 0.15"));
}

TEST_F(Pretraining, ARunWithOtherTokenizerOptionsThanItsInitialModelResumes) {
  const Words command = {"--init-from", masked().string(), "data.tokenizer.vocabulary_size=50"};
  ASSERT_EQ(train("translator", command + Words{"training.max_steps=1"}).code, 0);
  const auto resumed = train("translator", command + Words{"training.max_steps=2"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("--init-from is ignored"));
}

TEST_F(Pretraining, InitialModelsThatCannotStartThisKindAreErrors) {
  ASSERT_EQ(train("translator", {"data.tokenizer.joint=false", "model.tied_embeddings=output",
                                 "training.max_steps=1"})
                .code,
            0);
  const auto refused = train("masked", {"--init-from", path("translator")});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("set joint to true"));
}

TEST_F(Pretraining, SizesThatDoNotFitAreErrorsThatNameTheTensor) {
  const auto refused =
      train("translator", {"--init-from", masked().string(), "model.encoder.feed_forward_size=20"});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("encoder.layer0.feed_forward"),
                                 HasSubstr("make the sizes of both models equal")));
}

}  // namespace
}  // namespace regard::pretraining_test
