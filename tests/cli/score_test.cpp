#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/run.h"
#include "text/n_best.h"

namespace regard::score_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::vector<NBestEntry> entries_of(const std::string& list) {
  std::vector<NBestEntry> entries;
  for (const auto& line : lines_of(list)) entries.push_back(parse_n_best(line, "list", 1));
  return entries;
}

class Score : public CliTest {
 protected:
  Score() {
    const auto corpus = toy_corpus(25, 4);
    write_text(folder_ / "src", corpus.source);
    write_text(folder_ / "trg", corpus.target);
    for (const auto& line : lines_of(corpus.source)) {
      std::string links;
      const auto words = std::count(line.begin(), line.end(), ' ') + 1;
      for (long i = 0; i < words; ++i) links += fmt::format("{}{}-{}", i ? " " : "", i, i);
      gold_ += links + "\n";
    }
    write_text(folder_ / "gold", gold_);
  }
  Finished score(const Words& more, const std::filesystem::path& model = tiny_model()) {
    return run(Words{"score", "-m", model.string(), "-s", path("src"), "--threads", "1"} + more);
  }
  // Writes a list of the tiny model with three translations of each line. Returns its entries.
  std::vector<NBestEntry> write_list() {
    const auto list = run({"translate", "-m", tiny_model().string(), "-i", path("src"), "--n-best",
                           "3", "-o", path("list")});
    EXPECT_EQ(list.code, 0) << list.err;
    return entries_of(read_text(folder_ / "list"));
  }
  // Compares the features that `regard score --n-best` adds with log-probabilities of pairs, which
  // `pairs` names: -s FILE -t FILE.
  void expect_features(const Words& model, const Words& options, const Words& pairs) {
    const auto added = run(Words{"score"} + model + options +
                           Words{"--n-best", path("list"), "--feature", "new", "--per-token"});
    ASSERT_EQ(added.code, 0) << added.err;
    const auto scored = run(Words{"score"} + model + pairs + Words{"--words", "--json"});
    ASSERT_EQ(scored.code, 0) << scored.err;
    const auto scores = Json::parse(scored.out).at("scores");
    const auto entries = entries_of(added.out);
    ASSERT_EQ(entries.size(), scores.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (scores[i].at("log_probability").is_null()) continue;  // impossible
      const auto log_p = scores[i].at("log_probability").get<double>();
      const auto tokens = static_cast<double>(scores[i].at("words").size());  // of word models
      EXPECT_NEAR(*feature_value(entries[i], "new"), log_p, 1e-6);
      EXPECT_NEAR(*feature_value(entries[i], "new_per_token"), log_p / tokens, 1e-6);
    }
  }
  Json score_json(const Words& more) {
    const auto finished = score(more + Words{"-t", path("trg"), "--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return Json::parse(finished.out);
  }
  Json evaluation() {
    const auto finished =
        run({"evaluate", "-m", tiny_model().string(), "-s", path("src"), "-r", path("trg"),
             "--alignments-gold", path("gold"), "--json", "--threads", "1"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return Json::parse(finished.out);
  }

  std::string gold_;
};

TEST_F(Score, AgreesWithTheSearch) {
  const auto before = write_list();
  const auto finished = score({"--n-best", path("list"), "--feature", "again"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto after = entries_of(finished.out);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(*feature_value(after[i], "again"), *feature_value(after[i], "logprob"), 1.5e-4);
    auto without = after[i];
    without.features.erase(without.features.find(" again= "));
    EXPECT_EQ(format_n_best(without), format_n_best(before[i]));
  }
}

TEST_F(Score, FeaturesOfAListAreTheLogProbabilitiesOfItsPairs) {
  const auto source = lines_of(read_text(folder_ / "src"));
  std::string texts, sources;
  for (const auto& entry : write_list()) {
    texts += entry.text + "\n";
    sources += source[entry.sentence] + "\n";
  }
  const auto targets = file("texts", texts), lines = file("sources", sources);
  expect_features({"-m", tiny_model().string()}, {"-s", path("src")}, {"-s", lines, "-t", targets});
  expect_features({"-m", tiny_reverse().string()}, {"--swap", "-s", path("src")},
                  {"-s", targets, "-t", lines});
  expect_features({"-m", tiny_language_model().string()}, {}, {"-t", targets});
}

TEST_F(Score, AnImpossibleTranslationHasAFiniteFeature) {
  write_text(folder_ / "src", "\nthe cat .\n");
  write_text(folder_ / "list", "0 ||| le chat\n0 |||\n1 |||\n");
  const auto features = [&](const Words& options, const std::filesystem::path& model) {
    const auto finished = score(Words{"--n-best", path("list"), "--per-token"} + options, model);
    EXPECT_EQ(finished.code, 0) << finished.err;
    std::vector<std::string> found;
    for (const auto& entry : entries_of(finished.out)) found.push_back(entry.features);
    return found;
  };
  const std::string impossible = "regard= -1000.000000 regard_per_token= -1000.000000";
  const std::string certain = "regard= 0.000000 regard_per_token= 0.000000";
  const auto forward = features({}, tiny_model());
  ASSERT_THAT(forward, SizeIs(3));
  EXPECT_EQ(forward[0], impossible);
  EXPECT_EQ(forward[1], certain);
  const auto swapped = features({"--swap"}, tiny_reverse());
  ASSERT_THAT(swapped, SizeIs(3));
  EXPECT_EQ(swapped[1], certain);
  EXPECT_EQ(swapped[2], impossible);
}

TEST_F(Score, PerplexityAndAlignmentErrorAgreeWithEvaluate) {
  const auto scored = score_json({"--align", path("links"), "--alignments-gold", path("gold")});
  const auto evaluated = evaluation();
  EXPECT_DOUBLE_EQ(scored.at("perplexity"), evaluated.at("perplexity"));
  const auto of_words = score_json({"--words"});
  double sum = 0, tokens = 0;  // the vocabulary has words and </s>
  for (const auto& sentence : of_words.at("scores")) {
    for (const auto& word : sentence.at("words")) {
      sum += word.at("log_probability").get<double>();
      ++tokens;
    }
  }
  EXPECT_GT(tokens, 50);
  EXPECT_NEAR(scored.at("perplexity").get<double>(), std::exp(-sum / tokens), 1e-6);
  EXPECT_DOUBLE_EQ(scored.at("alignment").at("error_rate"),
                   evaluated.at("alignment").at("error_rate"));
  EXPECT_THAT(lines_of(read_text(folder_ / "links")), SizeIs(25));
}

TEST_F(Score, WordsSumToTheSentence) {
  const auto scored = score_json({"--words"});
  for (const auto& sentence : scored.at("scores")) {
    double sum = 0;
    for (const auto& word : sentence.at("words")) sum += word.at("log_probability").get<double>();
    EXPECT_NEAR(sum, sentence.at("log_probability"), 1e-9);
    EXPECT_EQ(sentence.at("words").back().at("word"), "</s>");
  }
  const auto target = lines_of(read_text(folder_ / "trg"));
  std::string words;
  for (const auto& word : scored.at("scores")[0].at("words")) {
    words += (words.empty() ? "" : " ") + word.at("word").get<std::string>();
  }
  EXPECT_EQ(words, target[0] + " </s>");
}

TEST_F(Score, PrintsUnknownWordsAsGiven) {
  write_text(folder_ / "src", "the cat .\n");
  write_text(folder_ / "trg", "le Ж猫 .\n");
  const auto scored = score_json({"--words"}).at("scores")[0].at("words");
  EXPECT_EQ(scored[0].at("word"), "le");
  EXPECT_EQ(scored[1].at("word"), "Ж猫");
}

TEST_F(Score, PrintsALineForEachPair) {
  const auto json = score_json({}).at("scores");
  const auto finished = score({"-t", path("trg"), "--words"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), json.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_NEAR(std::stod(lines[i]), json[i].at("log_probability"), 1e-4);
    EXPECT_THAT(lines[i], HasSubstr(" ||| "));
    EXPECT_THAT(lines[i], HasSubstr(" </s>="));
  }
  EXPECT_THAT(finished.err, HasSubstr("25 lines, perplexity "));
}

TEST_F(Score, BlankLineHasABlankTranslation) {
  write_text(folder_ / "src", "\n\nthe cat .\n");
  write_text(folder_ / "trg", "\nle chat .\n\n");
  const auto finished = score({"-t", path("trg")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0], "0.0000");
  EXPECT_EQ(lines[1], "-inf");
  EXPECT_LT(std::stod(lines[2]), 0);
  EXPECT_THAT(finished.err, HasSubstr("1 of 3 translations: the source line is empty"));
}

TEST_F(Score, OnlyBlankLinesHaveNoPerplexity) {
  write_text(folder_ / "src", "\n");
  write_text(folder_ / "trg", "le chat .\n");
  EXPECT_TRUE(score_json({}).at("perplexity").is_null());
  const auto finished = score({"-t", path("trg")});
  EXPECT_EQ(finished.out, "-inf\n");
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("1 line, perplexity")));
}

TEST_F(Score, MergesAlignmentsOfAReverseModel) {
  const auto reverse_model = tiny_reverse().string();
  const auto with = [&](const std::string& how) {
    return score_json({"--align", path("links." + how), "--alignments-gold", path("gold"),
                       "--reverse", reverse_model, "--symmetrise", how})
        .at("alignment");
  };
  const auto forward =
      score_json({"--align", path("links"), "--alignments-gold", path("gold")}).at("alignment");
  const auto both = with("intersection");
  const auto grown = with("grow-diag-final-and");
  const auto either = with("union");
  EXPECT_LE(both.at("recall"), forward.at("recall"));
  EXPECT_GE(either.at("recall"), forward.at("recall"));
  EXPECT_GE(grown.at("recall"), both.at("recall"));
  EXPECT_LE(grown.at("recall"), either.at("recall"));
  // The language model of the target language is not one for the reverse model.
  const auto with_lm = score({"-t", path("trg"), "--align", path("links"), "--reverse",
                              reverse_model, "--lm", tiny_language_model().string()});
  EXPECT_EQ(with_lm.code, 0) << with_lm.err;
  const auto said = [&](const std::string& reverse) {
    return score({"-t", path("trg"), "--align", path("links"), "--reverse", reverse}).err;
  };
  EXPECT_THAT(said(reverse_model), testing::Not(HasSubstr("was trained")));
  EXPECT_THAT(said(tiny_model().string()),
              HasSubstr("trained from en to fr, expected a model from fr to en"));
}

TEST_F(Score, ReportsBadInput) {
  const auto expect = [&](const std::vector<std::string>& options, int code,
                          const std::string& message) {
    const auto finished = score(options);
    EXPECT_EQ(finished.code, code) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(finished.out, "");
  };
  write_text(folder_ / "short", "le chat\n");
  expect({"-t", path("short")}, 3, "25");
  expect({}, 2, "either -t FILE or --n-best FILE");
  expect({"-t", path("trg"), "--align", path("links"), "--reverse", tiny_model().string(),
          "--symmetrise", "grow"},
         2, "found `grow`, expected one of grow-diag-final-and, intersection, union");
  write_text(folder_ / "list", "0 ||| le chat ||| a= 1 ||| 2\nzero ||| le chat\n");
  expect({"--n-best", path("list")}, 3, path("list") + ":2: found 'zero'");
  write_text(folder_ / "list", "25 ||| le chat\n");
  expect({"--n-best", path("list")}, 3, path("list") + ":1: found sentence 25");
  expect({"--n-best", path("list"), "--feature", "a b"}, 2, "--feature: found 'a b'");
  expect({"--n-best", path("list"), "--feature", "length"}, 2, "--feature: found length");
  write_text(folder_ / "list", "0 ||| le chat ||| lm= 1 a_per_token= 1 ||| 2\n");
  expect({"--n-best", path("list"), "--feature", "lm"}, 3, ":1: already has a feature 'lm'");
  expect({"--n-best", path("list"), "--feature", "a", "--per-token"}, 3,
         ":1: already has a feature 'a_per_token'");
  expect({"-t", path("trg"), "--swap"}, 2, "--n-best");
  const auto expect_of_list = [&](const Words& options, const std::string& message) {
    const auto finished = run(Words{"score", "--n-best", path("list")} + options);
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
  };
  const auto lm = tiny_language_model().string();
  expect_of_list({"-m", tiny_model().string()}, "expected its source too, -s FILE");
  expect_of_list({"-m", lm, "-s", path("src")}, "which reads no source; leave out -s");
  expect_of_list({"-m", lm, "--swap"}, "--swap: " + lm);
  const auto blind = score({"-t", path("trg"), "--align", path("links")}, tiny_fixed_context());
  EXPECT_EQ(blind.code, 2);
  EXPECT_THAT(blind.err, HasSubstr("has no attention"));
}

}  // namespace
}  // namespace regard::score_test
