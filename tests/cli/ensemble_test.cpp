// Ensembles on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "tests/cli/run.h"

namespace regard::ensemble_test {
namespace {

using testing::HasSubstr;

Finished translate(const Words& arguments) {
  return run(Words{"translate"} + arguments, toy_corpus(12, 7).source);
}

using EnsembleCli = CliTest;

TEST_F(EnsembleCli, EnsembleWithItselfTranslatesTheSame) {
  const auto model = tiny_model().string();
  const auto alone = translate({"-m", model, "--n-best", "3"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const std::string mean : {"linear", "log_linear"}) {
    const auto twice = translate({"-m", model, model, "--ensemble-mean", mean, "--n-best", "3"});
    ASSERT_EQ(twice.code, 0) << twice.err;
    const auto texts = [](const std::string& list) {
      std::vector<std::string> found;
      for (const auto& line : lines_of(list)) found.push_back(line.substr(0, line.find("logprob")));
      return found;
    };
    EXPECT_EQ(texts(twice.out), texts(alone.out));
  }
}

TEST_F(EnsembleCli, CombinesDifferentKindsByWeight) {
  const auto attention = tiny_model().string();
  const auto fixed = tiny_fixed_context().string();
  const auto transformer = tiny_transformer().string();
  const auto all = translate({"-m", attention, "-m", fixed, "-m", transformer});
  EXPECT_EQ(all.code, 0) << all.err;
  const auto nearly_one =
      translate({"-m", attention, fixed, "--ensemble-weights", "1", "1e-9", "--beam-size", "1"});
  EXPECT_EQ(nearly_one.out, translate({"-m", attention, "--beam-size", "1"}).out);
  const auto scored = run({"translate", "-m", attention, fixed, "--json"}, "the cat\n");
  EXPECT_EQ(scored.code, 0) << scored.err;
}

TEST_F(EnsembleCli, ScoreAndEvaluateAcceptEnsembles) {
  const auto corpus = toy_corpus(10, 8);
  const auto s = file("s", corpus.source), t = file("t", corpus.target);
  const auto a = tiny_model().string();
  const auto b = tiny_fixed_context().string();
  const auto one = run({"score", "-m", a, "-s", s, "-t", t});
  const auto other = run({"score", "-m", b, "-s", s, "-t", t});
  const auto both = run({"score", "-m", a, b, "--ensemble-mean", "linear", "-s", s, "-t", t});
  ASSERT_EQ(both.code, 0) << both.err;
  const auto words = [&](const Words& models) {  // log P of each word of all sentences
    const auto scored = run(Words{"score", "-s", s, "-t", t, "--words", "--json", "-m"} + models);
    std::vector<double> found;
    const auto all = Json::parse(scored.out);
    for (const auto& sentence : all.at("scores")) {
      for (const auto& word : sentence.at("words")) found.push_back(word.at("log_probability"));
    }
    return found;
  };
  const auto x = words({a}), y = words({b}), linear = words({a, b, "--ensemble-mean", "linear"}),
             log_linear = words({a, b, "--ensemble-mean", "log_linear"});
  ASSERT_GT(x.size(), 20U);
  double largest = 0;  // difference of the two means
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(linear[i], std::log((std::exp(x[i]) + std::exp(y[i])) / 2), 1e-4) << i;
    // A product of probabilities over all tokens has a sum of at most 1.
    EXPECT_GE(log_linear[i], (x[i] + y[i]) / 2 - 1e-4) << i;
    largest = std::max(largest, std::abs(linear[i] - log_linear[i]));
  }
  EXPECT_GT(largest, 0.01);
  const Words evaluate = {"evaluate", "-m", a, b, "-s", s, "-r", t, "--force"};
  const auto text = run(evaluate);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(lines_of(text.out)[0], "ensemble of 2 models: " + a + ", " + b);
  const auto json = Json::parse(run(evaluate + Words{"--format", "json"}).out);
  EXPECT_EQ(json["ensemble"], Json({a, b}));

  // With --each, the models are systems of their own.
  const Words each = {"evaluate", "-m", a, b, "--each", "-s", s, "-r", t, "--force", "--json"};
  const auto compared = Json::parse(run(each).out);
  EXPECT_FALSE(compared.contains("ensemble"));
  ASSERT_EQ(compared["systems"].size(), 2U);
  for (std::size_t m = 0; m < 2; ++m) {
    const auto& model = m == 0 ? a : b;
    const auto alone =
        Json::parse(run({"evaluate", "-m", model, "-s", s, "-r", t, "--force", "--json"}).out);
    EXPECT_EQ(compared["systems"][m]["bleu"], alone["bleu"]);
    EXPECT_EQ(compared["systems"][m]["perplexity"], alone["perplexity"]);
  }
  EXPECT_EQ(run(each + Words{"--ensemble-mean", "linear"}).code, 2);
  EXPECT_EQ(run(each + Words{"-o", path("out")}).code, 2);
}

TEST_F(EnsembleCli, RejectsDifferentVocabularies) {
  const auto config = toy_training(folder_);
  const auto trained = run({"train", "-c", config.string(), "training.max_steps=2",
                            "data.tokenizer.vocabulary_size=10"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto finished = translate({"-m", tiny_model().string(), path("run")});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("the source vocabulary of "));
}

TEST_F(EnsembleCli, RejectsInvalidWeightsAndMeans) {
  const auto model = tiny_model().string();
  const auto few = translate({"-m", model, model, "--ensemble-weights", "1"});
  EXPECT_EQ(few.code, 2);
  EXPECT_THAT(few.err, HasSubstr("--ensemble-weights: found 1, expected one for each of 2 models"));
  EXPECT_EQ(translate({"-m", model, model, "--ensemble-weights", "1", "0"}).code, 2);
  EXPECT_EQ(translate({"-m", model, model, "--ensemble-weights", "1e308,1e308"}).code, 2);
  EXPECT_EQ(translate({"-m", model, model, "--ensemble-weights", "1,2"}).code, 0);
  const auto mean = translate({"-m", model, model, "--ensemble-mean", "median"});
  EXPECT_EQ(mean.code, 2);
  EXPECT_THAT(mean.err, HasSubstr("--ensemble-mean: found `median`"));
  EXPECT_EQ(translate({"-m", model, model, "--explain"}).code, 2);
}

}  // namespace
}  // namespace regard::ensemble_test
