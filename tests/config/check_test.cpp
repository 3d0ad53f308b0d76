#include "config/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/reader.h"
#include "tests/config/message.h"

namespace regard::check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Returns a valid training configuration with overrides.
Options with(const std::vector<std::string>& overrides) {
  return parse_options(
      "data:\n  train: [{src: a, trg: b}]\n  dev: {src: c, trg: d}\ntraining: {epochs: 1}\n", "f",
      overrides);
}
std::string training_problem(const std::vector<std::string>& overrides) {
  return config_error([&] { check_training_options(with(overrides)); });
}
std::string model_problem(const std::vector<std::string>& overrides) {
  auto problem = config_error([&] { check_options(with(overrides)); });
  EXPECT_EQ(training_problem(overrides), problem) << "training must check the model too";
  return problem;
}
const std::string no_error = "no error";

TEST(Check, DefaultsAreAValidModelWithoutACorpus) {
  EXPECT_NO_THROW(check_options(Options{}));
  EXPECT_THAT(config_error([] { check_training_options(Options{}); }),
              AllOf(HasSubstr("data.train names no corpus"), HasSubstr("would never stop")));
  EXPECT_EQ(training_problem({}), no_error);
}

TEST(Check, APreparedCorpusNeedsNoText) {
  EXPECT_EQ(training_problem({"data.train=[]", "data.prepared=folder"}), no_error);
  EXPECT_THAT(training_problem({"data.train=[]"}), HasSubstr("data.train names no corpus"));
}

TEST(Check, UserSymbolsMustBeDistinctWordsThatNoOtherTokenIs) {
  const auto problem = [](const std::string& symbols) {
    return model_problem({"data.tokenizer.user_symbols=[" + symbols + "]"});
  };
  EXPECT_EQ(problem("<2de>, <bt>"), no_error);
  EXPECT_THAT(problem("<s>"), HasSubstr("found \"<s>\", which is the name of a special token"));
  EXPECT_THAT(problem("\"<2 de>\""), HasSubstr("contains white space"));
  EXPECT_THAT(problem("\"\""), HasSubstr("is empty"));
  EXPECT_THAT(problem("a, a"), HasSubstr("found a, which is there twice"));
  EXPECT_THAT(problem("\u2581a"), HasSubstr("SentencePiece reserves"));
}

TEST(Check, TagsMustBeUserSymbolsAndMustBeRead) {
  const std::string symbols = "data.tokenizer.user_symbols=[<2de>]";
  for (const std::string key : {"data.train.0", "data.dev"}) {
    for (const std::string side : {".src_tag", ".trg_tag"}) {
      EXPECT_EQ(training_problem({symbols, key + side + "=<2de>"}), no_error);
      EXPECT_THAT(training_problem({symbols, key + side + "=<2fr>"}),
                  HasSubstr(key + side +
                            ": found \"<2fr>\", expected one of data.tokenizer.user_symbols, which "
                            "are [\"<2de>\"]; add it there"));
      EXPECT_THAT(training_problem({key + side + "=<2fr>"}), HasSubstr("which is empty"));
    }
  }
  EXPECT_THAT(training_problem({symbols, "model.kind=language_model", "data.train.0.src=b",
                                "data.dev.src=d", "data.train.0.src_tag=<2de>"}),
              HasSubstr("data.train.0.src_tag: found \"<2de>\", but the source is not a sentence"));
}

TEST(Check, SizesAreLimited) {
  for (const auto* key :
       {"model.encoder.hidden_size", "model.decoder.embedding_dim", "search.batch_size"}) {
    EXPECT_THAT(
        model_problem({std::string(key) + "=9223372036854775807"}),
        HasSubstr(std::string(key) + ": found 9223372036854775807, expected at most 16777216"));
  }
}

TEST(Check, AllErrorsAreReportedAtOnce) {
  const std::string message =
      training_problem({"training.epochs=0", "data.train=[]", "device=gpu"});
  EXPECT_THAT(message, AllOf(HasSubstr("would never stop"), HasSubstr("names no corpus"),
                             HasSubstr("device: found gpu")));
}

TEST(Check, AcceptsAutoCpuAndCuda) {
  for (const char* good : {"auto", "cpu", "cuda", "cuda:0", "cuda:12"}) {
    EXPECT_EQ(model_problem({std::string("device=") + good}), no_error);
  }
  for (const char* bad : {"gpu", "cuda:", "cuda:x", "cuda:-1", ""}) {
    EXPECT_THAT(model_problem({std::string("device=") + bad}), HasSubstr("device: found")) << bad;
  }
}

TEST(Check, NameMustBeAFolderNameUnlessModelDirIsSet) {
  for (const char* bad : {"name=", "name=a/b", "name=.."}) {
    EXPECT_THAT(model_problem({bad}), HasSubstr("name: found")) << bad;
    EXPECT_EQ(model_problem({bad, "training.model_dir=x"}), no_error) << bad;
  }
}

TEST(Check, CorpusNeedsBothSides) {
  EXPECT_THAT(training_problem({"data.train.0.trg="}),
              HasSubstr("data.train.0: found only src (a), expected data.train.0.trg as well"));
  EXPECT_THAT(training_problem({"data.train.0={src: '', trg: ''}"}),
              HasSubstr("data.train.0: found no files"));
  EXPECT_THAT(training_problem({"data.dev.src="}),
              HasSubstr("data.dev: found only trg (d), expected data.dev.src as well"));
  EXPECT_EQ(training_problem({"data.dev={src: '', trg: ''}"}), no_error);
}

TEST(Check, OneCorpusMustHaveAWeight) {
  EXPECT_THAT(training_problem({"data.train.0.weight=0"}), HasSubstr("every corpus has weight 0"));
  EXPECT_EQ(training_problem({"data.train.0.weight=0", "data.train.1={src: e, trg: f}"}), no_error);
}

TEST(Check, WeightIsZeroOrNotTooSmall) {
  for (const std::string weight : {"1e-300", "4.9e-324", "1e-7"}) {
    EXPECT_THAT(training_problem({"data.train.0.weight=" + weight}),
                AllOf(HasSubstr("data.train.0.weight: found "), HasSubstr("at least 1e-06")));
  }
  for (const std::string weight : {"1e300", "-1", "-0.5", ".nan", ".inf", "-.inf", "1e400"}) {
    EXPECT_THAT(config_error([&] { with({"data.train.0.weight=" + weight}); }),
                HasSubstr("data.train.0.weight"))
        << weight;
  }
  for (const std::string weight : {"1e-6", "0.5", "1000"}) {
    EXPECT_EQ(training_problem({"data.train.0.weight=" + weight}), no_error);
  }
}

TEST(Check, TrainingMustEnd) {
  EXPECT_THAT(training_problem({"training.epochs=0"}), HasSubstr("would never stop"));
  for (const char* end : {"training.max_steps=1", "training.patience=1"}) {
    EXPECT_EQ(training_problem({"training.epochs=0", end}), no_error) << end;
  }
  EXPECT_EQ(training_problem({"training.epochs=0", "training.scheduling=plateau",
                              "training.learning_rate_min=1e-6"}),
            no_error);
  EXPECT_THAT(training_problem({"training.epochs=0", "training.scheduling=plateau"}),
              HasSubstr("would never stop"));
}

TEST(Check, OptionsThatNeedValidationsNeedADevPair) {
  const std::string none = "data.dev={src: '', trg: ''}";
  EXPECT_THAT(training_problem({none, "training.patience=2"}),
              HasSubstr("training.patience is 2, which needs validations"));
  EXPECT_THAT(training_problem({none, "training.scheduling=plateau"}),
              HasSubstr("training.scheduling is plateau, which needs validations"));
  EXPECT_EQ(training_problem({"training.patience=2", "training.scheduling=plateau"}), no_error);
}

TEST(Check, TiedOutputNeedsEqualReadoutAndEmbeddingWidths) {
  const std::vector<std::string> tied = {"model.tied_embeddings=output"};
  EXPECT_THAT(model_problem(tied),
              AllOf(HasSubstr("tied_embeddings is output"), HasSubstr("readout_size is 512"),
                    HasSubstr("decoder.embedding_dim is 256")));
  EXPECT_EQ(model_problem({tied[0], "model.decoder.readout_size=256"}), no_error);
}

TEST(Check, TyingAllNeedsAJointVocabularyAndEqualWidths) {
  const std::string all = "model.tied_embeddings=all";
  const std::string readout = "model.decoder.readout_size=256";
  const std::string joint = "data.tokenizer.joint=true";
  EXPECT_THAT(model_problem({all, readout}), HasSubstr("data.tokenizer.joint is false"));
  EXPECT_THAT(model_problem({all, readout, joint, "model.encoder.embedding_dim=128"}),
              AllOf(HasSubstr("model.encoder.embedding_dim is 128"),
                    HasSubstr("model.decoder.embedding_dim is 256")));
  EXPECT_THAT(model_problem({all, joint}), HasSubstr("readout_size is 512"));
  EXPECT_EQ(model_problem({all, readout, joint}), no_error);
}

TEST(Check, InitialStateLastNeedsEqualWidths) {
  const std::string last = "model.decoder.initial_state=last";
  EXPECT_THAT(model_problem({last}), AllOf(HasSubstr("hidden_size is 512"), HasSubstr("1024"),
                                           HasSubstr("in both directions")));
  EXPECT_EQ(model_problem({last, "model.encoder.bidirectional=false"}), no_error);
  EXPECT_EQ(model_problem({last, "model.decoder.hidden_size=1024"}), no_error);
}

TEST(Check, JointVocabularyIsOneFile) {
  const std::string joint = "data.tokenizer.joint=true";
  EXPECT_THAT(model_problem({joint, "data.tokenizer.src_file=a", "data.tokenizer.trg_file=b"}),
              AllOf(HasSubstr("src_file is a"), HasSubstr("trg_file is b")));
  EXPECT_THAT(model_problem({joint, "data.tokenizer.src_file=a"}), HasSubstr("trg_file is \"\""));
  EXPECT_EQ(model_problem({joint, "data.tokenizer.src_file=a", "data.tokenizer.trg_file=a"}),
            no_error);
  EXPECT_EQ(model_problem({"data.tokenizer.src_file=a"}), no_error);
}

TEST(Check, SamplingNeedsSubwords) {
  for (const char* kind : {"word", "character"}) {
    EXPECT_THAT(
        model_problem({"data.tokenizer.sampling=0.1", std::string("data.tokenizer.kind=") + kind}),
        HasSubstr("data.tokenizer.sampling is 0.1"));
  }
  for (const char* kind : {"bpe", "unigram"}) {
    EXPECT_EQ(
        model_problem({"data.tokenizer.sampling=0.1", std::string("data.tokenizer.kind=") + kind}),
        no_error);
  }
}

TEST(Check, CosineNeedsAnEnd) {
  const std::string cosine = "training.scheduling=cosine";
  EXPECT_THAT(training_problem({cosine, "training.epochs=0", "training.patience=3"}),
              HasSubstr("training.decay_steps"));
  EXPECT_EQ(training_problem({cosine, "training.max_steps=9"}), no_error);
  EXPECT_EQ(training_problem({cosine, "training.decay_steps=9"}), no_error);
  EXPECT_EQ(training_problem({cosine, "training.epochs=9"}), no_error);
}

TEST(Check, DecreaseFactorIsBetweenZeroAndOne) {
  for (const char* schedule : {"plateau", "exponential"}) {
    for (const char* factor : {"0", "1"}) {
      EXPECT_THAT(training_problem({std::string("training.scheduling=") + schedule,
                                    std::string("training.decrease_factor=") + factor}),
                  HasSubstr("training.decrease_factor is"));
    }
  }
  EXPECT_EQ(training_problem({"training.decrease_factor=1"}), no_error);
}

TEST(Check, MinimumRateIsNotAboveTheRate) {
  EXPECT_THAT(training_problem({"training.learning_rate_min=0.1"}),
              HasSubstr("training.learning_rate_min is 0.1, but training.learning_rate is 0.001"));
  EXPECT_THAT(training_problem({"training.learning_rate=0"}),
              HasSubstr("nothing would be learned"));
}

TEST(Check, DecaysAreBelowOneForEveryOptimizer) {
  for (const char* key : {"adam_beta1", "adam_beta2", "adadelta_rho", "momentum"}) {
    const auto decay = std::string("training.") + key;
    EXPECT_EQ(training_problem({decay + "=1"}),
              "command line: " + decay + "=1: found 1, expected a number between 0 and 0.999999");
    EXPECT_EQ(training_problem({decay + "=0.9999"}), no_error);
  }
}

// Returns the error message with source locations. `yaml` is the content of f.yaml.
std::string located_problem(const std::string& yaml, const std::vector<std::string>& overrides) {
  return config_error([&] {
    SourceLocations locations;
    const auto options = parse_options(yaml, "f.yaml", overrides, &locations);
    check_training_options(options, locations);
  });
}
const std::string corpus = "data:\n  train:\n    - {src: a, trg: b}\n";

TEST(Check, MessagesNameFileAndLine) {
  EXPECT_THAT(located_problem(corpus + "training:\n  epochs: 1\n  patience: 2\n", {}),
              StartsWith("f.yaml:6: training.patience is 2, which needs"));
  EXPECT_THAT(located_problem("data:\n  train:\n    - src: a\n", {"training.epochs=1"}),
              StartsWith("f.yaml:3: data.train.0: found only src (a)"));
}

TEST(Check, MessagesNameSectionOrFileOfAnUnsetKey) {
  EXPECT_THAT(located_problem(corpus + "training:\n  batch_size: 8\n", {}),
              StartsWith("f.yaml:4: training would never stop"));
  EXPECT_THAT(located_problem("training: {epochs: 1}\n", {}),
              StartsWith("f.yaml: data.train names no corpus"));
}

TEST(Check, MessagesNameTheLastOverride) {
  const auto yaml = corpus + "training:\n  epochs: 1\n  patience: 0\n";
  EXPECT_THAT(located_problem(yaml, {"training.patience=1", "training.patience=2"}),
              StartsWith("command line: training.patience=2: training.patience is 2, which"));
  EXPECT_THAT(located_problem(yaml, {"training={patience: 3}"}),
              StartsWith("command line: training={patience: 3}: training.patience is 3, which"));
  EXPECT_THAT(located_problem(yaml, {"data.train=[{src: c}]"}),
              StartsWith("command line: data.train=[{src: c}]: data.train.0: found only src (c)"));
}

TEST(Check, OverridingASectionKeepsLocationsOfOtherKeys) {
  EXPECT_THAT(located_problem(corpus + "training:\n  epochs: 1\n  patience: 2\n",
                              {"training={batch_size: 4}"}),
              StartsWith("f.yaml:6: training.patience is 2"));
}

TEST(Check, OutputsCheckTheOptionsTheyNeed) {
  const std::string word = "data.tokenizer.kind=word";
  const std::string pointer = "model.output.kind=pointer";
  const std::string copy = "model.output.kind=copy";
  const std::string numbers = "model.encoder.numbers=2";
  EXPECT_EQ(model_problem({word, pointer, numbers}), no_error);
  EXPECT_EQ(model_problem({word, copy}), no_error);
  EXPECT_EQ(model_problem({word, numbers}), no_error);
  EXPECT_THAT(model_problem({copy}), AllOf(HasSubstr("data.tokenizer.kind is bpe"),
                                           HasSubstr("set data.tokenizer.joint to true")));
  EXPECT_EQ(model_problem({copy, "data.tokenizer.joint=true"}), no_error);
  EXPECT_THAT(model_problem({copy, "data.tokenizer.joint=true", "data.tokenizer.sampling=0.1"}),
              HasSubstr("split at random"));
  EXPECT_THAT(model_problem({pointer}), HasSubstr("points to words"));
  EXPECT_THAT(model_problem({numbers}), HasSubstr("model.encoder.numbers is 2"));
  EXPECT_THAT(model_problem({word, copy, numbers}), HasSubstr("cannot be copied"));
  EXPECT_THAT(model_problem({word, pointer, "data.tokenizer.joint=true"}), HasSubstr("joint"));
  EXPECT_THAT(model_problem({word, numbers, "data.tokenizer.src_file=f"}),
              HasSubstr("remove src_file"));
  EXPECT_THAT(model_problem({word, pointer, "data.tokenizer.trg_file=f"}), HasSubstr("trg_file"));
  EXPECT_THAT(model_problem({word, pointer, "model.tied_embeddings=output"}),
              HasSubstr("no output layer to tie"));
  EXPECT_THAT(model_problem({word, pointer, "model.encoder.embedding_dim=8"}),
              HasSubstr("source embeddings"));
  EXPECT_THAT(model_problem({"model.output.size=8"}),
              HasSubstr("only model.output.kind: pointer uses it"));
}

TEST(Check, HallucinationNeedsTokensOnBothSides) {
  const std::string word = "data.tokenizer.kind=word";
  const std::string rate = "data.hallucination.rate=0.5";
  EXPECT_EQ(model_problem({rate, "data.hallucination.length=2"}), no_error);
  EXPECT_EQ(model_problem({word, rate, "model.output.kind=copy"}), no_error);
  EXPECT_THAT(training_problem({word, rate, "model.output.kind=pointer"}),
              AllOf(HasSubstr("data.hallucination.rate"), HasSubstr("the target has positions")));
  EXPECT_THAT(training_problem({word, rate, "model.encoder.numbers=2"}),
              HasSubstr("model.encoder.numbers is 2"));
  EXPECT_THAT(training_problem({rate, "data.source=features"}),
              HasSubstr("data.hallucination.rate is above 0"));
  EXPECT_THAT(model_problem({"data.hallucination.length=2"}),
              HasSubstr("only data.hallucination.rate above 0 uses it"));
}

}  // namespace
}  // namespace regard::check_test
