// Minimum Bayes risk decoding: translate and evaluate with --mbr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "tests/cli/run.h"
#include "text/n_best.h"

namespace regard::cli_minimum_bayes_risk_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string input() {
  return toy_corpus(12, 15).source + "\n" + toy_corpus(3, 16).source;  // with a blank line
}

using MbrCli = CliTest;

TEST_F(MbrCli, ChoosesTheSampleWithTheHighestExpectedUtility) {
  for (const std::string metric : {"chrf", "bleu"}) {
    const auto drawn = translate({"--samples", "8", "--seed", "3"}, input());
    const auto chosen = translate({"--samples", "8", "--seed", "3", "--mbr", metric}, input());
    ASSERT_EQ(chosen.code, 0) << chosen.err;
    std::map<std::size_t, std::vector<std::string>> samples;
    for (const auto& line : lines_of(drawn.out)) {
      const auto entry = parse_n_best(line, "list", 1);
      samples[entry.sentence].push_back(entry.text);
    }
    const auto best = lines_of(chosen.out);
    ASSERT_THAT(best, SizeIs(16));
    for (std::size_t i = 0; i < best.size(); ++i) {
      const auto utility = [&](const std::string& text) {
        double sum = 0;
        for (const auto& other : samples[i]) {
          sum += metric == "chrf"
                     ? corpus_score(Chrf(), {text}, {{other}})
                     : corpus_score(Bleu({.effective_order = true}), {text}, {{other}});
        }
        return sum;
      };
      for (const auto& other : samples[i]) EXPECT_GE(utility(best[i]), utility(other) - 1e-9);
    }
  }
}

TEST_F(MbrCli, AListIsInTheOrderOfExpectedUtility) {
  for (const Words& candidates : {Words{"--samples", "8"}, {"--beam-size", "6"}}) {
    const auto arguments = candidates + Words{"--mbr", "chrf", "--n-best", "4"};
    const auto list = translate(arguments, "the cat sees the old dog .\n");
    ASSERT_EQ(list.code, 0) << list.err;
    double last = 100;
    std::vector<std::string> texts;
    for (const auto& line : lines_of(list.out)) {
      const auto entry = parse_n_best(line, "list", 1);
      EXPECT_LE(std::stod(entry.score), last);
      EXPECT_THAT(texts, testing::Not(testing::Contains(entry.text)));
      last = std::stod(entry.score);
      texts.push_back(entry.text);
    }
    const auto json =
        Json::parse(translate(arguments + Words{"--json"}, "the cat sees the old dog .\n").out);
    ASSERT_EQ(json.at("hypotheses").size(), texts.size());
    EXPECT_EQ(json.at("hypotheses")[0].at("text"), texts[0]);
    EXPECT_GT(json.at("hypotheses")[0].at("expected_utility"), 0.0);
    EXPECT_LT(json.at("hypotheses")[0].at("score"), 0.0) << "the score of the search";
  }
}

TEST_F(MbrCli, DependsOnSeedNotOnBatchesAndThreads) {
  const auto once =
      translate({"--samples", "6", "--seed", "5", "--mbr", "bleu", "--scores"}, input());
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(translate({"--samples", "6", "--seed", "5", "--mbr", "bleu", "--scores", "--batch-size",
                       "7", "--threads", "2"},
                      input())
                .out,
            once.out);
  EXPECT_NE(translate({"--samples", "6", "--seed", "6", "--mbr", "bleu", "--scores"}, input()).out,
            once.out);
}

TEST_F(MbrCli, OtherOutputsShowTheChosenTranslation) {
  const auto with = [&](const Words& more) {
    const auto finished =
        translate(more + Words{"--samples", "8", "--mbr", "chrf"}, "the cat sees the old dog .\n");
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto chosen = lines_of(with({}))[0];
  EXPECT_THAT(with({"--scores"}), HasSubstr("\t" + chosen + "\n"));
  EXPECT_THAT(with({"--word-scores"}), HasSubstr(chosen + "\t"));
  EXPECT_THAT(with({"--explain"}), HasSubstr("line 1: " + chosen));
  EXPECT_THAT(with({"--show-attention"}), HasSubstr(chosen + "\n"));
  with({"--alignments", path("links"), "--attention-weights", path("weights"), "--report",
        path("report.html")});
  EXPECT_THAT(lines_of(read_text(path("links"))), SizeIs(1));
  EXPECT_THAT(read_text(path("report.html")), HasSubstr("expected utility"));
}

TEST_F(MbrCli, EvaluateScoresTheSameTranslations) {
  const auto corpus = toy_corpus(10, 8);
  write_text(path("src"), corpus.source);
  write_text(path("ref"), corpus.target);
  const auto evaluated = run({"evaluate", "-m", tiny_model().string(), "-s", path("src"), "-r",
                              path("ref"), "-o", path("out"), "--samples", "4", "--mbr", "chrf"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(read_text(path("out")),
            translate({"--samples", "4", "--mbr", "chrf"}, corpus.source).out);
}

TEST_F(MbrCli, CombinationsWithoutSenseAreUsageErrors) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--mbr", "chrf", "--beam-size", "1"}, "search.mbr is chrf, but search.beam_size is 1"},
      {{"--mbr", "bleu", "--samples", "1"}, "search.mbr is bleu, but search.samples is 1"},
      {{"--mbr", "chrf", "--split-length", "3"}, "--split-length cannot be combined with --mbr"},
      {{"--mbr", "ter"}, "found `ter`, expected one of none, chrf, bleu"},
      {{"--samples", "3", "--explain"}, "choose one with --mbr"}};
  for (const auto& [arguments, message] : cases) {
    const auto finished = translate(arguments, "the cat\n");
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace regard::cli_minimum_bayes_risk_test
