#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"
#include "tests/cli/run.h"
#include "tests/data/gzipped.h"

namespace regard::evaluate_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Lines that cover all parts of BLEU, and the scores of sacreBLEU 2 for them.
class Evaluate : public CliTest {
 protected:
  Evaluate() {
    write_text(folder_ / "hyp", "The cat sat on the mat .\nA dog, it barks loudly\nyes\n");
    write_text(folder_ / "ref", "The cat sat on a mat .\nA dog, it barks very loudly\nyes sir\n");
    write_text(folder_ / "ref2", "The cat is on the mat .\nA dog barks\nyes\n");
    write_text(folder_ / "src", "un deux trois\nun deux trois quatre cinq\nun\n");
  }
  // Translates a toy text by the shared model.
  Finished with_model(const Words& more) const {
    const auto corpus = toy_corpus(30, 4);
    write_text(folder_ / "toy.src", corpus.source);
    write_text(folder_ / "toy.ref", corpus.target);
    return run(Words{"evaluate", "-m", tiny_model().string(), "-s", path("toy.src"), "-r",
                     path("toy.ref"), "--threads", "1"} +
               more);
  }
};

TEST_F(Evaluate, ScoresFilesLikeTheMetrics) {
  const auto finished = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(
      lines[0],
      "BLEU = 54.89 92.9/72.7/55.6/42.9 (BP = 0.867 ratio = 0.875 hyp_len = 14 ref_len = 16)");
  EXPECT_THAT(lines[1], HasSubstr("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"));
  EXPECT_EQ(lines[2], "chrF2 = 66.17");
  EXPECT_THAT(lines[3], HasSubstr("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no"));
}

// Errors are found before a model is loaded. Here the model does not exist.
TEST_F(Evaluate, ReportsErrorsBeforeLoadingTheModel) {
  const auto with = [&](const Words& more) {
    return run(Words{"evaluate", "-m", path("no_model"), "-s", path("src"), "-r", path("ref")} +
               more);
  };
  EXPECT_THAT(with({"--by-length", "8,4"}).err,
              HasSubstr("--by-length: found 4 after 8, expected ascending"));
  EXPECT_THAT(with({"--by-length", "4", "--compare", path("gone")}).err, HasSubstr("gone"));
  EXPECT_THAT(with({"--alignments-gold", path("gone")}).err, HasSubstr("gone"));
  write_text(folder_ / "gold", gzipped("\uFEFF0-0\r\n\u00A0\nx\n"));
  EXPECT_THAT(with({"--alignments-gold", path("gold")}).err,
              HasSubstr(path("gold") + ":3: found 'x', expected an alignment link"));
  write_text(folder_ / "gold", "0-0\n\xFF\n");
  const auto invalid = with({"--alignments-gold", path("gold")});
  EXPECT_EQ(invalid.code, 3);
  EXPECT_THAT(invalid.err, HasSubstr(path("gold") + ":2: byte 1 of the line (0xFF)"));
  EXPECT_THAT(with({"--by-length", "4", "--by-length-svg", path("no/x.svg")}).err,
              HasSubstr("x.svg: cannot be written"));
  EXPECT_THAT(with({"-o", path("no/x.fr")}).err, HasSubstr("x.fr: cannot be written"));
  EXPECT_THAT(with({}).err, HasSubstr("no_model"));
}

TEST_F(Evaluate, SearchOptionsNeedAModel) {
  const auto finished =
      run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--beam-size", "3"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("--beam-size"), HasSubstr("--model")));
}

TEST_F(Evaluate, OptionsReachTheMetrics) {
  const auto finished = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "-r",
                             path("ref2"), "--tokenize", "char", "--lowercase", "--chrf-word-order",
                             "2", "--smooth-method", "add-k", "--smooth-value", "0.5", "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto json = Json::parse(finished.out);
  EXPECT_THAT(json.at("bleu").at("signature").get<std::string>(),
              HasSubstr("nrefs:2|case:lc|eff:no|tok:char|smooth:add-k[0.50]"));
  const References references{lines_of(read_text(path("ref"))), lines_of(read_text(path("ref2")))};
  BleuOptions bleu;
  bleu.tokenizer = BleuTokenizer::character;
  bleu.lowercase = true;
  bleu.smoothing = BleuSmoothing::add_k;
  bleu.smoothing_value = 0.5;
  const auto hypotheses = lines_of(read_text(path("hyp")));
  EXPECT_DOUBLE_EQ(json.at("bleu").at("score"), corpus_score(Bleu(bleu), hypotheses, references));
  EXPECT_EQ(json.at("chrf").at("name"), "chrF2++");
  EXPECT_DOUBLE_EQ(
      json.at("chrf").at("score"),
      corpus_score(Chrf({.word_order = 2, .lowercase = true}), hypotheses, references));
}

TEST_F(Evaluate, SmoothingValueNeedsAMethodWithAParameter) {
  const auto finished =
      run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--smooth-value", "0.5"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err,
              HasSubstr("--smooth-value: found --smooth-method exp, expected floor or add-k"));
}

TEST_F(Evaluate, OptionsOfChrfNeedAMetricThatReadsThem) {
  const auto problem = [&](const std::string& metric, const std::string& option) {
    const auto finished = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"),
                               "--metrics", metric, option, "1"});
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(problem("chrf++", "--chrf-word-order"),
              HasSubstr("--chrf-word-order: found no metric that reads it, expected chrf in"));
  EXPECT_THAT(problem("bleu", "--chrf-beta"),
              HasSubstr("--chrf-beta: found no metric that reads it, expected chrf or chrf++ in"));
  EXPECT_THAT(problem("bleu,ter", "--chrf-char-order"),
              HasSubstr("--chrf-char-order: found no metric that reads it"));
}

TEST_F(Evaluate, AnOptionThatNoMetricReadsIsAnError) {
  const auto problem = [&](const std::string& metric, const Words& options) {
    const auto finished =
        run(Words{"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--metrics", metric} +
            options);
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(problem("ter", {"--tokenize", "zh"}), HasSubstr("--tokenize: found no metric"));
  EXPECT_THAT(problem("ter", {"--lowercase"}), HasSubstr("expected bleu or chrf or chrf++"));
  EXPECT_THAT(problem("chrf", {"--smooth-method", "floor"}), HasSubstr("expected bleu in"));
  EXPECT_THAT(problem("ter", {"--training", path("ref"), "--smooth-method", "floor"}),
              HasSubstr("expected bleu in"));
  EXPECT_THAT(problem("bleu", {"--ter-normalized"}), HasSubstr("expected ter in --metrics"));
  EXPECT_THAT(problem("bleu", {"--tokenize", "flores200"}), HasSubstr("did you mean `spm`?"));
  const auto counted = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--metrics",
                            "ter", "--training", path("ref"), "--tokenize", "zh"});
  EXPECT_EQ(counted.code, 0) << counted.err;  // the words that are counted are those of BLEU
}

TEST_F(Evaluate, ByLengthWritesATableAndAChart) {
  const auto finished =
      run({"evaluate", "--hypotheses", path("hyp"), "-s", path("src"), "-r", path("ref"),
           "--by-length", "2,4,10", "--by-length-svg", path("l.svg")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("source words"));
  for (const auto* bucket : {"0–2", "3–4", "5–10", "11+"}) {
    EXPECT_THAT(finished.out, HasSubstr(bucket));
    EXPECT_THAT(read_text(path("l.svg")), HasSubstr(bucket));
  }
}

TEST_F(Evaluate, ComparedSystemsAreInTableAndChart) {
  const auto finished =
      run({"evaluate", "--hypotheses", path("hyp"), "-s", path("src"), "-r", path("ref"),
           "--by-length", "4", "--by-length-svg", path("l.svg"), "--compare", path("ref")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("BLEU of ref"), HasSubstr("100.00")));
  EXPECT_THAT(read_text(path("l.svg")), AllOf(HasSubstr("hyp"), HasSubstr("ref")));
}

// --by-length scores exactly the requested metrics.
TEST_F(Evaluate, ByLengthUsesTheRequestedMetrics) {
  const auto scored = [&](const std::string& metrics, const std::string& format) {
    const auto finished =
        run({"evaluate", "--hypotheses", path("hyp"), "-s", path("src"), "-r", path("ref"),
             "--compare", path("ref2"), "--by-length", "4", "--metrics", metrics, "--by-length-svg",
             path("l.svg"), "--format", format});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto text = scored("chrf++,ter", "text");
  EXPECT_THAT(text, AllOf(HasSubstr("source words  sentences  chrF2++    TER  chrF2++ of ref2"),
                          testing::Not(HasSubstr("BLEU"))));
  EXPECT_THAT(read_text(path("l.svg")), HasSubstr("chrF2++ by source length"));
  const auto buckets = Json::parse(scored("chrf++,ter", "json")).at("by_length");
  ASSERT_EQ(buckets.size(), 2u);
  const auto hypotheses = lines_of(read_text(path("hyp")));
  const auto reference = lines_of(read_text(path("ref")));
  EXPECT_DOUBLE_EQ(buckets[1].at("chrf++"),
                   corpus_score(Chrf({.word_order = 2}), {hypotheses[1]}, {{reference[1]}}));
  EXPECT_DOUBLE_EQ(buckets[1].at("ter"), corpus_score(Ter(), {hypotheses[1]}, {{reference[1]}}));
  EXPECT_FALSE(buckets[1].contains("bleu"));
  const auto usual = Json::parse(scored("bleu,chrf", "json")).at("by_length");
  EXPECT_TRUE(usual[0].contains("bleu") && usual[0].contains("chrf"));
}

TEST_F(Evaluate, ByScoresEachLabelInEveryFormat) {
  write_text(folder_ / "labels", "home\ntravel\nhome\n");
  const auto scored = [&](const std::string& format) {
    const auto finished =
        run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--compare", path("ref2"),
             "--by", path("labels"), "--metrics", "wer,PER,exact", "--format", format});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  EXPECT_THAT(scored("text"),
              AllOf(HasSubstr("\nlabel   sentences    WER    PER  exact  WER of ref2\n"),
                    HasSubstr("\nhome            2  22.22  22.22   0.00        33.33\n")));
  EXPECT_THAT(scored("markdown"), HasSubstr("\n| travel | 1 | 16.67 | 16.67 | 0.00 | "));
  EXPECT_THAT(scored("latex"), HasSubstr("\ntravel & 1 & 16.67 & "));
  const auto json = Json::parse(scored("json"));
  EXPECT_EQ(json.at("by_label").size(), 2u);
  EXPECT_EQ(json.at("by_label")[0], Json({{"label", "home"},
                                          {"sentences", 2},
                                          {"wer", 200.0 / 9},
                                          {"per", 200.0 / 9},
                                          {"exact", 0.0}}));
  EXPECT_EQ(json.at("systems")[1].at("by_label")[1].at("label"), "travel");
}

TEST_F(Evaluate, ByNeedsALabelOnEachLine) {
  const auto problem = [&](const std::string& labels) {
    write_text(folder_ / "labels", labels);
    const auto finished =
        run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--by", path("labels")});
    EXPECT_EQ(finished.code, 3);
    return finished.err;
  };
  EXPECT_THAT(problem("a\nb\n"),
              HasSubstr(path("labels") + ": found 2 lines, expected 3, a label for each line of " +
                        path("ref")));
  EXPECT_THAT(problem("a\n \nb\n"), HasSubstr(path("labels") + ":2: found no label, expected one"));
  const auto gone =
      run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--by", "gone"});
  EXPECT_EQ(gone.code, 3);
  const auto lines = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--by",
                          path("labels"), "--sentence-level"});
  EXPECT_EQ(lines.code, 2);
}

// sacreBLEU treats the mark as a part of the first word.
TEST_F(Evaluate, WarnsOfAByteOrderMarkInEveryText) {
  const auto plain = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref")});
  for (const std::string name : {"hyp", "ref", "ref2", "src"}) {
    write_text(folder_ / (name + ".bom"), "\xEF\xBB\xBF" + read_text(folder_ / name));
  }
  const auto marked = run({"evaluate", "--hypotheses", path("hyp.bom"), "-r", path("ref.bom"), "-s",
                           path("src.bom"), "--compare", path("ref2.bom"), "--training",
                           path("ref2.bom"), "--force"});
  ASSERT_EQ(marked.code, 0);
  for (const std::string name : {"hyp", "ref", "ref2", "src"}) {
    EXPECT_THAT(marked.err, HasSubstr(path(name + ".bom") + ":1: begins with a byte order mark"));
  }
  const auto one = run({"evaluate", "--hypotheses", path("hyp.bom"), "-r", path("ref")});
  EXPECT_EQ(one.out, plain.out);
  EXPECT_THAT(one.err, AllOf(HasSubstr(path("hyp.bom") + ":1: "), HasSubstr("sacreBLEU")));
  EXPECT_EQ(lines_of(one.err).size(), 1u) << one.err;
  EXPECT_EQ(plain.err, "");
}

TEST_F(Evaluate, WarnsOfTextWithoutSpaces) {
  write_text(folder_ / "zh", "我们昨天在北京看了一场电影。\n");
  const auto with = [&](const Words& more) {
    const auto finished =
        run(Words{"evaluate", "--hypotheses", path("zh"), "-r", path("zh")} + more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.err;
  };
  EXPECT_THAT(with({}), AllOf(HasSubstr(path("zh") + ": found Chinese"), HasSubstr("zh, or char"),
                              HasSubstr("--force")));
  EXPECT_THAT(with({"--metrics", "ter"}), HasSubstr("--ter-asian-support"));
  EXPECT_THAT(with({"--metrics", "chrf", "--training", path("zh")}), HasSubstr("--tokenize 13a"));
  EXPECT_EQ(with({"--tokenize", "zh"}), "");
  EXPECT_EQ(with({"--metrics", "chrf"}), "");
  EXPECT_EQ(with({"--force"}), "");
}

TEST_F(Evaluate, ModelAndFileOfItsTranslationsScoreTheSame) {
  const auto finished = with_model({"-o", path("out"), "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto json = Json::parse(finished.out);
  EXPECT_EQ(json.at("sentences"), 30);
  EXPECT_GT(json.at("perplexity"), 1);
  EXPECT_LT(json.at("perplexity"), 16) << "no better than a guess among all entries";
  const auto of_file =
      run({"evaluate", "--hypotheses", path("out"), "-r", path("toy.ref"), "--json"});
  EXPECT_EQ(Json::parse(of_file.out).at("bleu"), json.at("bleu"));
  const auto translated =
      run({"translate", "-m", tiny_model().string(), "-i", path("toy.src"), "--threads", "1"});
  EXPECT_EQ(read_text(path("out")), translated.out);
}

TEST_F(Evaluate, ComparesAlignmentsWithGold) {
  std::string gold;
  for (const auto& line : lines_of(toy_corpus(30, 4).source)) {
    const auto words = 1 + std::count(line.begin(), line.end(), ' ');
    for (long i = 0; i < words; ++i) gold += std::to_string(i) + "-" + std::to_string(i) + " ";
    gold.back() = '\n';
  }
  write_text(folder_ / "gold", gold);
  const auto finished = with_model({"--alignments-gold", path("gold"), "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto alignment = Json::parse(finished.out).at("alignment");
  EXPECT_EQ(alignment.at("proposed"), alignment.at("sure")) << "one link for each target word";
  const double precision = alignment.at("precision");
  EXPECT_GT(precision, 0);
  EXPECT_EQ(alignment.at("recall"), precision);
  EXPECT_NEAR(alignment.at("error_rate"), 1 - precision, 1e-12);
}

TEST_F(Evaluate, GoldOfAnotherLengthNamesBothCounts) {
  write_text(folder_ / "gold", "0-0\n");
  const auto finished = with_model({"--alignments-gold", path("gold")});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr(path("gold") + " has 1 line,"));
}

TEST_F(Evaluate, NamesAGoldLinkBeyondTheSentence) {
  std::string gold;
  for (std::size_t i = 0; i < 30; ++i) gold += i == 2 ? "0-0 0-99\n" : "0-0\n";
  write_text(folder_ / "gold", gold);
  const auto finished = with_model({"--alignments-gold", path("gold")});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err,
              HasSubstr(path("gold") + ":3: found the link 0-99, but the source has"));
}

TEST_F(Evaluate, NeedsEitherAModelOrHypotheses) {
  EXPECT_EQ(run({"evaluate", "-r", path("ref")}).code, 2);
  EXPECT_EQ(run({"evaluate", "-m", "x", "-s", path("src"), "--hypotheses", path("hyp"), "-r",
                 path("ref")})
                .code,
            2);
  const auto no_source = run({"evaluate", "-m", "x", "-r", path("ref")});
  EXPECT_EQ(no_source.code, 2);
  EXPECT_THAT(no_source.err, HasSubstr("--src"));
}

TEST_F(Evaluate, EveryMetricHasItsScoreAndSignature) {
  const auto finished = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "-r",
                             path("ref2"), "--metrics", "chrf++,ter", "--ter-case-sensitive",
                             "--ter-normalized", "--ter-no-punct", "--ter-asian-support"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const References references{lines_of(read_text(path("ref"))), lines_of(read_text(path("ref2")))};
  const auto hypotheses = lines_of(read_text(path("hyp")));
  const Chrf chrf({.word_order = 2});
  const Ter ter({true, true, true, true});
  EXPECT_EQ(lines_of(finished.out),
            (std::vector<std::string>{
                fmt::format("chrF2++ = {:.2f}", corpus_score(chrf, hypotheses, references)),
                "  " + chrf.signature(2),
                fmt::format("TER = {:.2f}", corpus_score(ter, hypotheses, references)),
                "  " + ter.signature(2)}));
}

TEST_F(Evaluate, PrintsConfidenceAfterTheScoreAndInTheSignature) {
  const auto with = [&](const Words& more) {
    return run(Words{"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--confidence"} +
               more);
  };
  const auto text = with({});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(testing::ContainsRegex("BLEU = 54.89 \\(μ = [0-9.]+ ± [0-9.]+\\) 92"),
                              HasSubstr("nrefs:1|bs:1000|seed:12345|case:mixed")));
  const auto json = with({"--json", "--resamples", "50", "--resampling-seed", "3"});
  const auto bleu = Json::parse(json.out).at("bleu");
  EXPECT_THAT(bleu.at("signature").get<std::string>(), HasSubstr("nrefs:1|bs:50|seed:3|"));
  EXPECT_GT(bleu.at("confidence").at("half_width"), 0);
  EXPECT_EQ(with({"--json", "--resamples", "50", "--resampling-seed", "3"}).out, json.out);
}

TEST_F(Evaluate, ResamplingOptionsNeedResampling) {
  for (const std::string option : {"--resamples", "--trials", "--resampling-seed"}) {
    const auto finished =
        run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), option, "50"});
    EXPECT_EQ(finished.code, 2) << option;
    EXPECT_THAT(finished.err, HasSubstr(option));
  }
}

TEST_F(Evaluate, ComparesSystemsWithTheFirst) {
  for (const std::string test : {"--paired-bs", "--paired-ar"}) {
    SCOPED_TRACE(test);
    const auto finished = run({"evaluate", "--hypotheses", path("hyp"), path("ref2"), "--compare",
                               path("ref"), "-r", path("ref"), test});
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto lines = lines_of(finished.out);
    ASSERT_GE(lines.size(), 5u);
    EXPECT_THAT(lines[2], AllOf(testing::StartsWith("hyp (baseline)"), HasSubstr("54.89"),
                                testing::Not(HasSubstr("p ="))));
    EXPECT_THAT(lines[3], AllOf(testing::StartsWith("ref2"), HasSubstr("(p = ")));
    EXPECT_THAT(lines[4], AllOf(testing::StartsWith("ref "), HasSubstr("100.00")));
    EXPECT_THAT(finished.out, HasSubstr(test == "--paired-bs" ? "nrefs:1|bs:1000|seed:12345|"
                                                              : "nrefs:1|ar:10000|seed:12345|"));
  }
}

TEST_F(Evaluate, DefaultMetricsEndWithThatOfTheModel) {
  const auto model =
      trained_once("tiny_exact", {"training.max_steps=2", "training.early_stopping_metric=exact"});
  const auto corpus = toy_corpus(10, 4);
  const auto source = file("toy.src", corpus.source), reference = file("toy.ref", corpus.target);
  const auto with = [&](const Words& more) {
    return run(Words{"evaluate", "-m", model.string(), "-s", source, "-r", reference} + more).out;
  };
  const auto scores = with({});
  EXPECT_THAT(scores, AllOf(testing::StartsWith("BLEU = "), HasSubstr("\nchrF2 = "),
                            HasSubstr("\nexact = ")));
  EXPECT_LT(scores.find("\nchrF2 = "), scores.find("\nexact = "));
  EXPECT_THAT(with({"--metrics", "bleu,chrf"}), testing::StartsWith("BLEU = "));
}

TEST_F(Evaluate, SystemsWithEqualScoresDoNotDiffer) {
  const auto a = file("a", "The cat sat on a mat .\nx\nyes sir\n");
  const auto b = file("b", "x\nA dog, it barks very loudly\nyes sir\n");
  for (const std::string test : {"--paired-bs", "--paired-ar"}) {
    const auto finished = run({"evaluate", "--hypotheses", a, b, "-r", path("ref"), "--metrics",
                               "exact", test, "--force"});
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(lines_of(finished.out).at(3), HasSubstr("(p = 1.0000)")) << test;
  }
}

TEST_F(Evaluate, JsonHasScoresAndPValuesOfSystems) {
  const auto finished = run({"evaluate", "--hypotheses", path("hyp"), path("ref2"), "-r",
                             path("ref"), "--paired-ar", "--format", "json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto json = Json::parse(finished.out);
  const auto& systems = json.at("systems");
  ASSERT_EQ(systems.size(), 2u);
  EXPECT_EQ(systems[0].at("name"), "hyp");
  EXPECT_EQ(systems[0].at("bleu"), json.at("bleu"));
  EXPECT_FALSE(systems[0].at("bleu").contains("p"));
  EXPECT_GT(systems[1].at("bleu").at("p"), 0);
  EXPECT_LE(systems[1].at("chrf").at("p"), 1);
}

TEST_F(Evaluate, PairedTestsNeedTwoSystems) {
  const auto finished =
      run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--paired-bs"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("found one system, but a paired test compares several"));
}

TEST_F(Evaluate, WritesMarkdownAndLatexTables) {
  const auto with = [&](const std::string& format) {
    return run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "-s", path("src"),
                "--by-length", "4", "--training", path("ref2"), "--confidence", "--format", format})
        .out;
  };
  EXPECT_THAT(with("markdown"),
              AllOf(HasSubstr("| system | BLEU (μ ± 95% CI) | chrF2 (μ ± 95% CI) |\n"),
                    HasSubstr("\n| hyp | 54.89 ("), HasSubstr("- BLEU: `nrefs:1|bs:1000|"),
                    HasSubstr("\n| 0–4 | 2 |"), HasSubstr("| times in training |")));
  EXPECT_THAT(with("latex"),
              AllOf(HasSubstr("% BLEU: nrefs:1|bs:1000|"), HasSubstr("$\\mu$ $\\pm$ 95\\% CI"),
                    HasSubstr("\n0--4 & 2 & "), HasSubstr("\\bottomrule\n\\end{tabular}\n")));
}

// The training text has "A" once and "dog" twice; of the words unseen in it the reference has five.
TEST_F(Evaluate, ScoresWordsByTheirTrainingFrequency) {
  write_text(folder_ / "train", "A dog\ndog\n");
  const auto finished = run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"),
                             "--training", path("train"), "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto buckets = Json::parse(finished.out).at("by_frequency");
  ASSERT_EQ(buckets.size(), 7u);
  EXPECT_EQ(buckets[0].at("reference"), 14);
  EXPECT_EQ(buckets[1].at("reference"), 1);
  EXPECT_EQ(buckets[1].at("f1"), 1.0);
  EXPECT_EQ(buckets[2].at("reference"), 1);
  EXPECT_EQ(buckets[6].at("commonest"), Json());
  write_text(folder_ / "empty", "\n");
  const auto empty = run(
      {"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), "--training", path("empty")});
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.err, HasSubstr(path("empty") + ": empty"));
}

TEST_F(Evaluate, WarnsOfTokenisedHypotheses) {
  std::string tokens;
  std::string plain;
  for (int i = 0; i < 10; ++i) {
    tokens += "They watch .\n";
    plain += "They watch.\n";
  }
  write_text(folder_ / "tokens", tokens);
  write_text(folder_ / "plain", plain);
  const auto finished = run({"evaluate", "--hypotheses", path("tokens"), "-r", path("plain")});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err, HasSubstr("the hypotheses look tokenised"));
  EXPECT_THAT(run({"evaluate", "--hypotheses", path("plain"), "-r", path("tokens")}).err,
              HasSubstr("swapped?"));
  EXPECT_EQ(run({"evaluate", "--hypotheses", path("tokens"), "-r", path("plain"), "--force"}).err,
            "");
}

// The figures are those of `sacrebleu -sl -b -w 2`.
TEST_F(Evaluate, SentenceLevelScoresEqualSacrebleu) {
  write_text(folder_ / "h", "the cat sat on the mat .\na dog\nzebra\n");
  write_text(folder_ / "r", "the cat is on the mat .\na big dog\nhorse runs\n");
  const auto with = [&](const Words& more) {
    return run(Words{"evaluate", "--hypotheses", path("h"), "-r", path("r"), "--force", "--metrics",
                     "bleu,chrf,ter"} +
               more);
  };
  EXPECT_EQ(with({"--sentence-level"}).out,
            "48.89\t67.17\t14.29\n42.89\t30.62\t33.33\n0.00\t4.88\t100.00\n");
  EXPECT_EQ(with({"-sl"}).out, with({"--sentence-level"}).out) << "the name of sacreBLEU";
  const auto json = parse_json(with({"-l", "--json"}).out);
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(json[1].at("line"), 2);
  EXPECT_NEAR(json[1].at("bleu").get<double>(), 42.89, 0.005);
  const auto refused = with({"-l", "--confidence"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--sentence-level scores single lines"));
  EXPECT_THAT(with({"-l", "--format", "latex"}).err, HasSubstr("prints text or json"));
}

TEST_F(Evaluate, SentenceLevelScoresOfSeveralSystemsAreSideBySide) {
  const auto both = run({"evaluate", "--hypotheses", path("hyp"), path("ref2"), "-r", path("ref"),
                         "-l", "--metrics", "bleu", "--force"});
  const auto lines = lines_of(both.out);
  ASSERT_EQ(lines.size(), 3U) << both.err;
  for (const auto& line : lines) EXPECT_EQ(std::ranges::count(line, '\t'), 1) << line;
}

// `sacrebleu -m chrf --chrf-char-order 4 --chrf-beta 3 -w 2 -b` prints 50.71.
TEST_F(Evaluate, OrderAndBetaOfChrfEqualSacrebleu) {
  write_text(folder_ / "h", "the cat sat on the mat .\na dog\nzebra\n");
  write_text(folder_ / "r", "the cat is on the mat .\na big dog\nhorse runs\n");
  const auto scored = run({"evaluate", "--hypotheses", path("h"), "-r", path("r"), "--force",
                           "--metrics", "chrf", "--chrf-char-order", "4", "--chrf-beta", "3"});
  EXPECT_THAT(scored.out, AllOf(HasSubstr("chrF3 = 50.71"), HasSubstr("nc:4|nw:0")));
}

TEST_F(Evaluate, WritesTheJsonOfSacrebleu) {
  const auto one = parse_json(run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"),
                                   "--metrics", "bleu", "--format", "sacrebleu"})
                                  .out);
  EXPECT_EQ(one.at("name"), "BLEU");
  EXPECT_EQ(one.at("score"), 54.9);
  EXPECT_EQ(one.at("tok"), "13a");
  EXPECT_EQ(one.at("nrefs"), "1");
  EXPECT_EQ(one.at("verbose_score"),
            "92.9/72.7/55.6/42.9 (BP = 0.867 ratio = 0.875 hyp_len = 14 ref_len = 16)");
  const auto two = parse_json(run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"),
                                   "--format", "sacrebleu", "--confidence"})
                                  .out);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[1].at("name"), "chrF2");
  EXPECT_TRUE(two[1].contains("confidence_var"));
  const auto refused = run({"evaluate", "--hypotheses", path("hyp"), path("ref2"), "-r",
                            path("ref"), "--format", "sacrebleu"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected one; use json"));
}

TEST_F(Evaluate, TheTokenizerSpmNeedsItsModel) {
  const auto with = [&](const Words& more) {
    return run(Words{"evaluate", "--hypotheses", path("hyp"), "-r", path("ref")} + more);
  };
  EXPECT_THAT(with({"--tokenize", "spm"}).err, HasSubstr("--spm-model: found none"));
  EXPECT_THAT(with({"--spm-model", path("ref")}).err, HasSubstr("with --tokenize=13a"));
  const auto damaged = with({"--tokenize", "spm", "--spm-model", path("ref")});
  EXPECT_EQ(damaged.code, 3);
  EXPECT_THAT(damaged.err, HasSubstr(path("ref")));
}

TEST_F(Evaluate, UnknownNamesAreUsageErrorsWithASuggestion) {
  const auto with = [&](const std::string& option, const std::string& name) {
    const auto finished =
        run({"evaluate", "--hypotheses", path("hyp"), "-r", path("ref"), option, name});
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(with("--tokenize", "14a"), HasSubstr("did you mean `13a`?"));
  EXPECT_THAT(
      with("--metrics", "bleu,tre"),
      HasSubstr("--metrics: found `tre`, expected one of bleu, chrf, chrf++, ter, wer, cer, "
                "per, exact; did you mean `ter`?"));
  EXPECT_THAT(
      with("--format", "latx"),
      HasSubstr("--format: found `latx`, expected one of text, json, sacrebleu, markdown, latex; "
                "did you mean `latex`?"));
}

}  // namespace
}  // namespace regard::evaluate_test
