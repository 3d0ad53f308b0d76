// regard rerank: weights by hand, tuned weights, the table of features, and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
    return run(Words{"rerank", "-s", path("src"), "-i", path("list")} + more);
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

TEST_F(Rerank, TheScoreAloneKeepsTheBestOfTheSearch) {
  const auto best =
      run({"translate", "-m", tiny_model().string(), "-i", path("src"), "--beam-size", "5"});
  EXPECT_EQ(ok({"--weight", "score=1"}), best.out);
}

TEST_F(Rerank, TheModelOfTheListHasItsLogProbability) {
  const auto by_model = ok({"--weight", "model=1", "-m", tiny_model().string(), "--n-best", "5"});
  EXPECT_EQ(ok({"--weight", "logprob=1"}),
            ok({"--weight", "model=1", "-m", tiny_model().string()}));
  for (const auto& entry : entries_of(by_model)) {
    EXPECT_NEAR(*feature_value(entry, "model"), *feature_value(entry, "logprob"), 2e-4);
    EXPECT_NEAR(std::stod(entry.score), *feature_value(entry, "model"), 2e-4);
  }
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
}

TEST_F(Rerank, TunedWeightsRaiseBleuAndReachThePromisedScore) {
  const auto weights = tuned({"--seed", "3"});
  EXPECT_GT(weights.at("score_after"), weights.at("score_before"));
  EXPECT_EQ(weights.at("metric"), "BLEU");
  ASSERT_EQ(weights.at("features").size(), 2U);
  EXPECT_EQ(weights.at("features")[0].at("name"), "score");
  EXPECT_EQ(weights.at("features")[1].at("name"), "length");
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

TEST_F(Rerank, TheLengthCanBeLeftOut) {
  const auto weights = tuned({"--no-length", "--list-features", "score,logprob"});
  ASSERT_EQ(weights.at("features").size(), 2U);
  EXPECT_EQ(weights.at("features")[1].at("name"), "logprob");
  const auto nothing =
      rerank({"--tune", "-r", path("ref"), "--no-length", "--list-features", "none"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--no-length: found nothing else to tune"));
}

TEST_F(Rerank, ModelsReverseModelsAndLanguageModelsAreFeatures) {
  const auto reverse_model = tiny_reverse().string(), lm = tiny_language_model().string();
  const Words models = {"-m", tiny_model().string(), "--reverse", reverse_model, "--lm", lm};
  const auto weights = tuned(
      models + Words{"--features", path("table"), "--per-token", "--list-features", "score,model"});
  Words names;
  for (const auto& feature : weights.at("features")) names.push_back(feature.at("name"));
  EXPECT_EQ(names, (Words{"score", "model", "model_per_token", "reverse", "reverse_per_token", "lm",
                          "lm_per_token", "length"}));
  EXPECT_EQ(weights.at("features")[3].at("model"), reverse_model);

  // The table replaces the models.
  const auto table = read_text(folder_ / "table");
  const auto best = ok(models + Words{"--weights", path("weights")});
  EXPECT_EQ(ok({"--weights", path("weights"), "--features", path("table")}), best);
  EXPECT_EQ(read_text(folder_ / "table"), table);
  EXPECT_NEAR(bleu(best), weights.at("score_after"), 1e-9);

  // The language model of the target language is not one for the reverse model.
  const auto aligned =
      run({"score", "-m", tiny_model().string(), "--lm", lm, "-s", path("src"), "-t", path("ref"),
           "--align", path("links"), "--reverse", reverse_model});
  EXPECT_EQ(aligned.code, 0) << aligned.err;

  // The features of `regard score`.
  std::string texts;
  std::string sources;
  const auto source = lines_of(read_text(folder_ / "src"));
  for (const auto& entry : entries_of(read_text(folder_ / "list"))) {
    texts += entry.text + "\n";
    sources += source[entry.sentence] + "\n";
  }
  write_text(folder_ / "list_texts", texts);
  write_text(folder_ / "list_sources", sources);
  const auto reverse = lines_of(
      run({"score", "-m", reverse_model, "-s", path("list_texts"), "-t", path("list_sources")})
          .out);
  const auto language_model = lines_of(run({"score", "-m", lm, "-t", path("list_texts")}).out);
  const auto list = entries_of(ok({"--weight", "reverse=1", "--weight", "lm=0.5", "--features",
                                   path("table"), "--n-best", "5"}));
  const auto original = entries_of(read_text(folder_ / "list"));
  for (std::size_t i = 0; i < original.size(); ++i) {
    const auto same = std::ranges::find_if(list, [&](const NBestEntry& entry) {
      return entry.sentence == original[i].sentence && entry.text == original[i].text;
    });
    ASSERT_NE(same, list.end());
    EXPECT_NEAR(*feature_value(*same, "reverse"), std::stod(reverse[i]), 2e-4);
    EXPECT_NEAR(*feature_value(*same, "lm"), std::stod(language_model[i]), 2e-4);
    EXPECT_NEAR(std::stod(same->score), std::stod(reverse[i]) + 0.5 * std::stod(language_model[i]),
                3e-4);
  }

  const auto expect = [&](const Words& options, const std::string& message) {
    const auto finished = rerank(options);
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
  };
  expect({"--weights", path("weights"), "-m", tiny_model().string()},
         path("weights") + ": the feature reverse needs a model; give " + reverse_model +
             " with --reverse, or a table with --features");
  expect({"--weight", "reverse=1", "--features", path("table"), "--reverse", lm},
         "has the feature reverse of another model, " + reverse_model);
  expect({"--weight", "lm=1", "--lm", reverse_model},
         "found a model of kind translation, expected language_model");
  expect({"--weight", "model=1", "-m", lm},
         "found a model of kind language_model, expected translation");
}

TEST_F(Rerank, AFeatureOfAModelReplacesThatOfTheList) {
  const Words with_model = {"-m", tiny_model().string(), "--weight", "model=1", "--n-best", "2"};
  const auto computed = rerank(with_model);
  ASSERT_EQ(computed.code, 0) << computed.err;
  std::string list;
  for (const auto& line : lines_of(read_text(folder_ / "list"))) {
    const auto bar = line.rfind(" |||");
    list += line.substr(0, bar) + " model= -1.5" + line.substr(bar) + "\n";
  }
  write_text(folder_ / "list", list);
  const auto again = rerank(with_model);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, computed.out);
}

TEST_F(Rerank, ColumnsThatAUserAddsAreFeatures) {
  ok({"--weight", "model=1", "-m", tiny_model().string(), "--features", path("table")});
  std::string table;
  std::size_t row = 0;
  for (const auto& line : lines_of(read_text(folder_ / "table"))) {
    const auto is_head = line.starts_with("sentence");
    table += line;
    if (!line.starts_with('#')) table += is_head ? "\tquality" : "\t" + std::to_string(row++ % 5);
    table += "\n";
  }
  write_text(folder_ / "table", table);
  const auto last = ok({"--weight", "quality=1", "--features", path("table")});
  const auto list = entries_of(read_text(folder_ / "list"));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(lines_of(last)[i], list[5 * i + 4].text);
  EXPECT_THAT(tuned({"--features", path("table")}).dump(), HasSubstr("\"quality\""));
}

TEST_F(Rerank, ADamagedTableIsAnErrorWithItsLine) {
  ok({"--weight", "model=1", "-m", tiny_model().string(), "--features", path("table")});
  const auto table = lines_of(read_text(folder_ / "table"));
  ASSERT_THAT(table[2], HasSubstr("sentence\tmodel\tmodel_per_token"));
  const auto expect = [&](std::size_t line, const std::string& replacement,
                          const std::string& message) {
    auto lines = table;
    lines[line - 1] = replacement;
    std::string text;
    for (const auto& other : lines) text += other + (other.empty() ? "" : "\n");
    write_text(folder_ / "table", text);
    const auto finished = rerank({"--weight", "model=1", "--features", path("table")});
    EXPECT_EQ(finished.code, 3) << message;
    EXPECT_THAT(finished.err, HasSubstr(path("table") + ":" + message));
  };
  expect(1, "#list\t0", "1: found the features of another list or source");
  expect(1, "#other", "3: found no line #list");
  expect(3, "model", "3: found 'model', expected the names of the columns");
  expect(3, "sentence\tmodel\tmodel", "3: found the column model twice");
  expect(3, "sentence\tmodel\tlength", "3: found a column length, which is the name of a feature");
  expect(3, "sentence\tmodel\ta b", "3: column 3: found the name 'a b'");
  expect(5, "0\t1", "5: found 2 cells, expected 3");
  expect(5, "7\t1\t2", "5: found sentence 7, expected 0, that of " + path("list") + ":2");
  expect(5, "0\t1\tx", "5: column model_per_token: found 'x', expected a number");
  expect(103, "", "102: found 99 rows, expected one for each of 100 entries");
  expect(103, table[102] + "\n" + table[102], "104: found another row");
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
         "--weight: found the feature logprop, which the list does not have; expected one of "
         "score, length, logprob; did you mean `logprob`?");
  expect({"--weight", "reverse=1"}, 2, "the feature reverse needs a model");
  expect({"--weight", "score=1", "--features", path("none")}, 3, path("none") + ": no such file");
  expect({"--weight", "score=1", "-m", tiny_model().string()}, 2,
         "-m: the weights have no feature model");
  expect({"--tune"}, 2, "--ref");
  expect({"--tune", "-r", path("ref"), "--metric", "ter"}, 2, "--metric: found ter");
  expect({"--tune", "-r", path("ref"), "--list-features", "foo"}, 2,
         "--list-features: found the feature foo");
  expect({"--tune", "-r", path("ref"), "--weight", "lm=1"}, 2,
         "--weight: found the feature lm, which is not tuned; expected one of score, length");

  write_text(folder_ / "short", "le chat\n");
  expect({"--tune", "-r", path("short")}, 3, "short");
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
  expect_weights(R"({"features": [{"name": "foo", "weight": 1}]})",
                 "found the feature foo, which the list does not have; expected one of");

  const auto expect_list = [&](const std::string& list, const std::string& message) {
    write_text(folder_ / "list", list);
    expect({"--weight", "score=1"}, 3, message);
  };
  const auto list = read_text(folder_ / "list");
  expect_list("", path("list") + ": empty, expected an n-best list");
  expect_list("zero ||| a\n", path("list") + ":1: found 'zero'");
  expect_list(list + "20 ||| a ||| ||| 1\n", path("list") + ":101: found sentence 20, but " +
                                                 path("src") + " has 20 lines, counted from 0");
  expect_list(list.substr(0, list.find("\n19 |||") + 1),
              path("src") + ":20: found no translation of this line in " + path("list") +
                  " (sentence 19, counted from 0)");
  expect_list(list + "19 ||| le chat\n", path("list") + ":101: found no score");
}

}  // namespace
}  // namespace regard::rerank_test
