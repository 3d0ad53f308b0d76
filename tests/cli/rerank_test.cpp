// regard rerank: weights by hand, tuned weights, features that `regard score` added, and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/run.h"
#include "text/n_best.h"

namespace regard::rerank_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class Rerank : public CliTest {
 protected:
  Rerank() {
    const auto corpus = toy_corpus(20, 14);
    write_text(folder_ / "src", corpus.source);
    write_text(folder_ / "ref", corpus.target);
    const auto list = run({"translate", "-m", tiny_model().string(), "-i", path("src"), "--n-best",
                           "5", "--beam-size", "5"});
    EXPECT_EQ(list.code, 0) << list.err;
    write_text(folder_ / "list", list.out);
  }
  Finished rerank(Words more) const {
    if (std::ranges::count(more, "--threads") == 0) more = more + Words{"--threads", "1"};
    return run(Words{"rerank", "-i", path("list")} + more);
  }
  std::string ok(const Words& more) const {
    const auto finished = rerank(more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
  Json tuned(const Words& more = {}) const {
    ok(Words{"--tune", "-r", path("ref"), "-o", path("weights")} + more);
    return Json::parse(read_text(folder_ / "weights"));
  }
  // Adds the features reverse, reverse_per_token and lm to the list, the last through pipes.
  void add_features() const {
    const auto reverse =
        run({"score", "-m", tiny_reverse().string(), "--swap", "--per-token", "-s", path("src"),
             "--n-best", path("list"), "--feature", "reverse", "-o", path("with_reverse")});
    ASSERT_EQ(reverse.code, 0) << reverse.err;
    const auto lm =
        run({"score", "-m", tiny_language_model().string(), "--n-best", "-", "--feature", "lm"},
            read_text(folder_ / "with_reverse"));
    ASSERT_EQ(lm.code, 0) << lm.err;
    write_text(folder_ / "list", lm.out);
  }
  double bleu(const std::string& translations) const {
    write_text(folder_ / "out", translations);
    const auto finished = run({"evaluate", "--hypotheses", path("out"), "-r", path("ref"), "--json",
                               "--metrics", "bleu"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return Json::parse(finished.out).at("bleu").at("score");
  }
};

std::vector<NBestEntry> entries_of(const std::string& list) {
  std::vector<NBestEntry> entries;
  for (const auto& line : lines_of(list)) entries.push_back(parse_n_best(line, "list", 1));
  return entries;
}

// Returns the names of the features of a file of weights.
Words names_of(const Json& weights) {
  Words names;
  for (const auto& feature : weights.at("features")) names.push_back(feature.at("name"));
  return names;
}

TEST_F(Rerank, TheScoreAloneKeepsTheBestOfTheSearch) {
  const auto best =
      run({"translate", "-m", tiny_model().string(), "-i", path("src"), "--beam-size", "5"});
  EXPECT_EQ(ok({"--weight", "score=1"}), best.out);
}

TEST_F(Rerank, AListIsInTheOrderOfTheWeightedSum) {
  const auto before = entries_of(read_text(folder_ / "list"));
  const auto after =
      entries_of(ok({"--weight", "length=-1", "--weight", "score=0.001", "--n-best", "5"}));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].sentence, before[i].sentence);
    if (i > 0 && after[i].sentence == after[i - 1].sentence) {
      EXPECT_LE(std::stod(after[i].score), std::stod(after[i - 1].score));
      EXPECT_GE(*feature_value(after[i], "length"), *feature_value(after[i - 1], "length"));
    }
  }
  EXPECT_THAT(entries_of(ok({"--weight", "score=1", "--n-best", "2"})), SizeIs(40));
  const auto piped = run({"rerank", "--weight", "score=1"}, read_text(folder_ / "list"));
  EXPECT_EQ(piped.out, ok({"--weight", "score=1"})) << piped.err;
}

TEST_F(Rerank, TunedWeightsRaiseBleuAndReachThePromisedScore) {
  const auto weights = tuned({"--seed", "3"});
  EXPECT_GT(weights.at("score_after"), weights.at("score_before"));
  EXPECT_EQ(weights.at("metric"), "BLEU");
  EXPECT_EQ(names_of(weights), (Words{"score", "logprob", "length"}));
  EXPECT_NEAR(bleu(ok({"--weight", "score=1"})), weights.at("score_before"), 1e-9);
  EXPECT_NEAR(bleu(ok({"--weights", path("weights")})), weights.at("score_after"), 1e-9);
  const auto words = [](const std::string& text) {
    std::istringstream all(text);
    return std::distance(std::istream_iterator<std::string>(all), {});
  };
  EXPECT_EQ(weights.at("words_before"), words(ok({"--weight", "score=1"})));
  EXPECT_EQ(weights.at("words_after"), words(ok({"--weights", path("weights")})));
  EXPECT_EQ(weights.at("words_of_reference"), words(read_text(folder_ / "ref")));
  const auto text = read_text(folder_ / "weights");
  tuned({"--seed", "3", "--threads", "2"});
  EXPECT_EQ(read_text(folder_ / "weights"), text);
  EXPECT_EQ(tuned({"--metric", "chrf"}).at("metric"), "chrF2");
}

TEST_F(Rerank, TheFeaturesToTuneCanBeChosen) {
  const Words of_score = {"--list-features", "score"};
  EXPECT_EQ(names_of(tuned(of_score)), (Words{"score", "length"}));
  EXPECT_EQ(names_of(tuned(of_score + Words{"--no-length"})), Words{"score"});
  EXPECT_EQ(names_of(tuned({"--no-length"})), (Words{"score", "logprob"}));
  const auto nothing =
      rerank({"--tune", "-r", path("ref"), "--no-length", "--list-features", "length"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--no-length: found nothing else to tune"));
}

TEST_F(Rerank, FeaturesOfScoreAreCombined) {
  add_features();
  const auto before = entries_of(read_text(folder_ / "list"));
  const auto after = entries_of(ok(
      {"--weight", "reverse=1", "--weight", "lm=0.5", "--weight", "length=0.1", "--n-best", "5"}));
  ASSERT_EQ(after.size(), before.size());
  const auto sum = [](const NBestEntry& entry) {
    const auto words = 1 + std::ranges::count(entry.text, ' ');
    return *feature_value(entry, "reverse") + 0.5 * *feature_value(entry, "lm") +
           0.1 * static_cast<double>(entry.text.empty() ? 0 : words);
  };
  for (std::size_t first = 0; first < before.size(); first += 5) {
    std::vector<NBestEntry> expected(before.begin() + static_cast<std::ptrdiff_t>(first),
                                     before.begin() + static_cast<std::ptrdiff_t>(first + 5));
    std::ranges::stable_sort(expected, std::greater<>(), sum);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto& entry = after[first + i];
      EXPECT_EQ(entry.sentence, first / 5);
      EXPECT_EQ(entry.text, expected[i].text);
      EXPECT_NEAR(std::stod(entry.score), sum(expected[i]), 2e-6);
      EXPECT_TRUE(entry.features.starts_with(expected[i].features + " length= "));
    }
  }
}

TEST_F(Rerank, FeaturesOfScoreAreTuned) {
  add_features();
  const auto weights = tuned();
  EXPECT_EQ(names_of(weights),
            (Words{"score", "logprob", "reverse", "reverse_per_token", "lm", "length"}));
  EXPECT_GE(weights.at("score_after"), weights.at("score_before"));
  EXPECT_NEAR(bleu(ok({"--weights", path("weights")})), weights.at("score_after"), 1e-9);
}

TEST_F(Rerank, ReportsBadInput) {
  const auto expect = [&](const Words& options, int code, const std::string& message) {
    const auto finished = rerank(options);
    EXPECT_EQ(finished.code, code) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(finished.out, "");
  };
  expect({}, 2, "expected either --weights FILE or --weight NAME=X, or --tune");
  expect({"--weight", "score=1", "--weights", path("weights")}, 2,
         "found --weights and --weight, expected one of both");
  expect({"--weight", "score"}, 2, "--weight: found 'score', expected NAME=NUMBER");
  expect({"--weight", "score=x"}, 2, "--weight: found 'score=x', expected NAME=NUMBER");
  expect({"--weight", "score=1", "--weight", "score=2"}, 2, "found score twice");
  expect({"--weight", "score=0"}, 2, "found only weights of 0");
  expect({"--weight", "logprop=1"}, 2,
         "--weight: found the feature logprop, which " + path("list") +
             " does not have; expected one of score, logprob, length; "
             "add it with `regard score --n-best " +
             path("list") + " --feature logprop`; did you mean `logprob`?");
  expect({"--tune"}, 2, "--ref");
  expect({"--tune", "-r", path("ref"), "--metric", "ter"}, 2, "--metric: found `ter`");
  expect({"--tune", "-r", path("ref"), "--list-features", "score,foo"}, 2,
         "--list-features: found the feature foo, which " + path("list") + " does not have; ");
  expect({"--tune", "-r", path("ref"), "--list-features", ""}, 2,
         "--list-features: found an empty name");
  expect(
      {"--tune", "-r", path("ref"), "--weight", "lm=1"}, 2,
      "--weight: found the feature lm, which is not tuned; expected one of score, logprob, length");

  write_text(folder_ / "short", "le chat\n");
  expect({"--tune", "-r", path("short")}, 3,
         path("short") + ": found 1 line, expected 20, one for each sentence of " + path("list"));
  write_text(folder_ / "blank", std::string(20, '\n'));
  expect({"--tune", "-r", path("blank")}, 3, path("blank") + ": empty");

  const auto expect_weights = [&](const std::string& json, const std::string& message) {
    write_text(folder_ / "weights", json);
    expect({"--weights", path("weights")}, 3, path("weights") + ": " + message);
  };
  expect_weights("{", "no JSON");
  expect_weights("{}", "found no list `features`");
  expect_weights(R"({"features": []})", "`features` is empty");
  expect_weights(
      R"({"features": [{"name": "score", "weight": 1}, {"name": "score", "weight": 2}]})",
      "features[1] (score) repeats a feature");
  expect_weights(R"({"features": [{"name": "score", "weight": 1e308}]})", "the weighted sum of");
  expect_weights(R"({"features": [1]})", "features[0] has no `name`");
  expect_weights(R"({"features": [{"name": "score"}]})",
                 "features[0] (score) has no number `weight`");
  write_text(folder_ / "weights", R"({"features": [{"name": "foo", "weight": 1}]})");
  expect({"--weights", path("weights")}, 3,
         path("weights") + ": found the feature foo, which " + path("list") + " does not have; ");
}

TEST_F(Rerank, ReportsABadList) {
  const auto list = read_text(folder_ / "list");
  const auto expect = [&](const std::string& text, const std::string& message,
                          const std::string& weight = "score=1") {
    write_text(folder_ / "list", text);
    const auto finished = rerank({"--weight", weight});
    EXPECT_EQ(finished.code, 3) << message;
    EXPECT_THAT(finished.err, HasSubstr(path("list") + message));
    EXPECT_EQ(finished.out, "");
  };
  expect("", ": empty, expected an n-best list");
  expect("zero ||| a\n", ":1: found 'zero'");
  expect("1 ||| a ||| ||| 1\n", ":1: found sentence 1, expected 0; number the sentences");
  expect(list + "21 ||| a ||| ||| 1\n", ":101: found sentence 21, expected 19 or 20");
  expect(list + "18 ||| a ||| ||| 1\n", ":101: found sentence 18, expected 19 or 20");
  expect(list + "19 ||| a\n",
         ":101: found no feature score, expected one of length; --weight names it");
  expect(list + "19 ||| a ||| ||| inf\n",
         ":101: found inf for the feature score, expected a finite");
  expect(list + "19 ||| a ||| a= 1 ||| 1\n",
         ":101: found no feature logprob, expected one of "
         "score, a, length; --weight names it; leave it out there",
         "logprob=1");
  expect(list + "19 ||| a ||| logprob= 1 2 ||| 1\n",
         ":101: found several numbers or none of the feature logprob, expected one; "
         "--weight names it",
         "logprob=1");
}

TEST_F(Rerank, TunesTheFeaturesThatEachLineHasOnceAsAFiniteNumber) {
  auto lines = lines_of(read_text(folder_ / "list"));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto entry = parse_n_best(lines[i], "list", 1);
    entry.features += i == 0 ? " words= -1" : " words= -1 -2";
    entry.features += i == 1 ? " bound= inf" : " bound= 0.5";
    if (i != 2) entry.features += " sparse= 1";
    lines[i] = format_n_best(entry);
  }
  std::string list;
  for (const auto& line : lines) list += line + "\n";
  write_text(folder_ / "list", list);
  EXPECT_EQ(names_of(tuned()), (Words{"score", "logprob", "length"}));
}

TEST_F(Rerank, ASparseFeatureIsNamedWithItsLineAndItsOrigin) {
  const auto list = read_text(folder_ / "list");
  write_text(folder_ / "list", list + "19 ||| a ||| logprob= -1 lm= -2 ||| -1\n");
  write_text(folder_ / "weights", R"({"features": [{"name": "lm", "weight": 1}]})");
  const auto tuning =
      rerank({"--tune", "-r", path("ref"), "--list-features", "score,lm", "-o", path("out")});
  EXPECT_EQ(tuning.code, 3);
  EXPECT_THAT(
      tuning.err,
      HasSubstr(path("list") + ":1: found no feature lm, expected one of score, logprob, length; "
                               "--list-features names it; leave it out there\n"));
  const auto applied = rerank({"--weights", path("weights")});
  EXPECT_EQ(applied.code, 3);
  EXPECT_THAT(applied.err, HasSubstr("length; " + path("weights") + " names it\n"));
}

}  // namespace
}  // namespace regard::rerank_test
