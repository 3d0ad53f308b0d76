// The pages: regard report, and translate --report; and attention in the terminal.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <string>

#include "base/json.h"
#include "tests/cli/train.h"
#include "tests/report/xml_check.h"

namespace regard::report_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string lines = "the cat sees a dog .\n\na small bird .\n";

Finished translate(const fs::path& model, const Words& more, const std::string& input = lines) {
  return run(Words{"translate", "-m", model.string(), "--threads", "1"} + more, input);
}

void expect_sound(const std::string& page) {
  EXPECT_EQ(find_xml_fault(page), "");
  EXPECT_EQ(count_of(page, "http"), count_of(page, "xmlns=\"http://www.w3.org/2000/svg\""));
}

std::string report_of(const fs::path& model, const Words& more = {}) {
  const auto path = (fresh_folder() / "page.html").string();
  const auto finished = translate(model, more + Words{"--report", path});
  EXPECT_EQ(finished.code, 0) << finished.err;
  return read_text(path);
}

TEST(TranslateReport, ShowsEachSentenceWithItsNBestListAndSearch) {
  const auto page = report_of(tiny_model());
  expect_sound(page);
  EXPECT_THAT(page, AllOf(HasSubstr("<h2>Line 1</h2>"), HasSubstr("<h2>Line 3</h2>"),
                          Not(HasSubstr("<h2>Line 2</h2>"))));
  const auto best = lines_of(translate(tiny_model(), {"--n-best", "3"}).out);
  for (const auto& line : best) {          // "0 ||| text ||| logprob= -1.2345 ||| -0.9876"
    if (line.starts_with("1 ")) continue;  // the blank one
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match,
                                 std::regex(".*\\|\\|\\| (.*) \\|\\|\\| logprob= (.*) "
                                            "\\|\\|\\| (.*)")));
    EXPECT_THAT(page, HasSubstr(fmt::format("<td class=\"r\">{}</td><td class=\"r\">{}</td><td>{}",
                                            match.str(3), match.str(2), match.str(1))));
  }
  EXPECT_EQ(count_of(page, "class=\"tree\""), 2U);
  EXPECT_EQ(count_of(page, "class=\"lines\""), 2U);
  EXPECT_EQ(count_of(page, "class=\"viewer\""), 2U);
}

TEST(TranslateReport, DoesNotChangeTheTranslations) {
  const auto path = (fresh_folder() / "page.html").string();
  EXPECT_EQ(translate(tiny_model(), {"--report", path}).out, translate(tiny_model(), {}).out);
}

TEST(TranslateReport, ShowsTheHeadsOfEachLayerOfATransformer) {
  const auto page = report_of(tiny_transformer());
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("<option>last layer, mean of its heads</option>"
                              "<option>layer 1, head 1</option><option>layer 1, head 2</option>"
                              "<option>layer 2, head 1</option><option>layer 2, head 2</option>"));
}

TEST(TranslateReport, ShowsTheSelfAttentionOfATransformer) {
  const auto page = report_of(tiny_transformer());
  EXPECT_EQ(count_of(page, "class=\"viewer\""), 6U);  // three kinds of two sentences
  EXPECT_THAT(page, HasSubstr("<option>to the source</option><option>encoder self-attention"
                              "</option><option>decoder self-attention</option>"));
  // The first word of a translation can only attend to <s>, in each map.
  EXPECT_THAT(page, HasSubstr("<title>&lt;s&gt; ← &lt;s&gt;  1.000</title>"));
  EXPECT_THAT(report_of(tiny_model()), Not(HasSubstr("self-attention")));
}

TEST(TranslateReport, OfALargePageLeavesSelfAttentionOut) {
  std::string text;
  for (int line = 0; line < 50; ++line) {
    for (int word = 0; word < 18; ++word) text += "the cat sees a dog ";
    text += ".\n";
  }
  const auto path = (fresh_folder() / "page.html").string();
  ASSERT_EQ(translate(tiny_transformer(), {"--report", path}, text).code, 0);
  const auto page = read_text(path);
  EXPECT_THAT(page, HasSubstr("Self-attention is left out, because the page would be too large."));
  EXPECT_GT(count_of(page, "<h3>encoder self-attention</h3>"), 3U);
  EXPECT_EQ(count_of(page, "<h2>Line "), 50U);
}

TEST(TranslateReport, WithoutAttentionShowsNBestListsAndSearches) {
  const auto page = report_of(tiny_fixed_context());
  expect_sound(page);
  EXPECT_EQ(count_of(page, "class=\"tree\""), 2U);
  EXPECT_EQ(count_of(page, "class=\"viewer\""), 0U);
}

TEST(TranslateReport, GreedySearchHasNoTree) {
  const auto page = report_of(tiny_model(), {"--beam-size", "1"});
  EXPECT_EQ(count_of(page, "class=\"tree\""), 0U);
  EXPECT_EQ(count_of(page, "class=\"viewer\""), 2U);
}

// Kinds that choose one position, trained briefly.
class ChoosingModels : public Train {
 protected:
  std::string page_of(const Words& overrides, const std::string& input) const {
    const auto trained = train(overrides);
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(translate(folder_ / "run", {"--report", path("page.html")}, input).code, 0);
    return read_text(path("page.html"));
  }
};

TEST_F(ChoosingModels, HardAttentionShowsProbabilitiesAndChoices) {
  const auto page = page_of({"model.attention.kind=hard", "model.attention.score=additive"}, lines);
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("hard: P(position), ● the chosen position"));
  EXPECT_THAT(page, HasSubstr("&quot;chosen&quot;:["));
  // These are probabilities, not the 0 and 1 of the choice.
  EXPECT_THAT(page, testing::ContainsRegex("<title>[^<]*  0\\.[1-8][0-9]*</title>"));
}

TEST_F(ChoosingModels, PointerShowsItsPositions) {
  for (const std::string set : {"train", "dev"}) {
    std::string source, target;
    for (int i = 0; i < 40; ++i) {
      source += i % 2 == 0 ? "0.1 0.9 0.5\n" : "0.7 0.2\n";
      target += i % 2 == 0 ? "0 2 1\n" : "1 0\n";
    }
    write_text(folder_ / (set + ".en"), source);
    write_text(folder_ / (set + ".fr"), target);
  }
  const auto page = page_of({"model.output.kind=pointer", "model.encoder.numbers=1"}, "0.3 0.1\n");
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("<option>pointer: P(position), ● the chosen position</option>"));
}

TEST_F(ChoosingModels, CopyOutputShowsCopiedWords) {
  const auto page = page_of({"model.output.kind=copy"}, lines);
  expect_sound(page);
  EXPECT_THAT(page, AllOf(HasSubstr("copied: (1 − p_gen) α"), HasSubstr("from the vocabulary 0.")));
}

TEST(ShowAttention, DrawsAMapUnderEachTranslation) {
  const auto plain = lines_of(translate(tiny_model(), {}).out);
  const auto shown = translate(tiny_model(), {"--show-attention"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.out.rfind(plain[0] + "\n", 0), 0U);
  EXPECT_THAT(shown.out, HasSubstr("\n" + plain[2] + "\n"));
  EXPECT_THAT(shown.out, testing::ContainsRegex("</s>  .*  [a-z./<>]+ +[01]\\.[0-9][0-9]\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\x1b")));  // no terminal
}

TEST(ShowAttention, NeedsAttentionAndOneTranslation) {
  EXPECT_EQ(translate(tiny_fixed_context(), {"--show-attention"}).code, 2);
  EXPECT_EQ(translate(tiny_model(), {"--show-attention", "--n-best", "2"}).code, 2);
  EXPECT_EQ(translate(tiny_model(), {"--show-attention", "--explain"}).code, 2);
}

TEST(Pictures, FolderGetsAPictureOfEachSentence) {
  const auto folder = fresh_folder() / "maps";
  ASSERT_EQ(translate(tiny_model(), {"--picture", folder.string() + "/"}).code, 0);
  EXPECT_TRUE(fs::exists(folder / "line-00001.svg"));
  EXPECT_FALSE(fs::exists(folder / "line-00002.svg"));
  const auto svg = read_text(folder / "line-00003.svg");
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">bird</text>"));
}

// After one step the attention is nearly uniform.
TEST_F(ChoosingModels, FlatAttentionSuggestsTheRelativeScale) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const std::string sentence = "the small cat and the old dog here .\n";
  const auto picture = path("early.svg");
  const auto shown = [&](const Words& more) {
    return run(Words{"translate", "-m", path("run"), "--picture", picture} + more, sentence);
  };
  const auto absolute = shown({});
  EXPECT_EQ(absolute.code, 0);
  EXPECT_THAT(absolute.err,
              HasSubstr("dark on the scale from 0 to 1; use --attention-scale picture"));
  EXPECT_THAT(read_text(picture), HasSubstr(">1 (largest here: 0.1"));
  EXPECT_THAT(read_text(picture), Not(HasSubstr("height=\"1\" fill=\"#ffffff\"")));

  const auto relative = shown({"--attention-scale", "picture", "--show-attention"});
  EXPECT_EQ(relative.code, 0);
  EXPECT_THAT(relative.err, Not(HasSubstr("dark")));
  EXPECT_THAT(read_text(picture), HasSubstr("height=\"1\" fill=\"#ffffff\""));
  EXPECT_THAT(read_text(picture), HasSubstr(" (the largest)</text>"));
  EXPECT_THAT(relative.out, AllOf(HasSubstr("██"), HasSubstr(" (the largest)\n")));

  const auto wrong = shown({"--attention-scale", "relative"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("found `relative`, expected one of absolute, picture, row"));
}

// The mean plus half of the interval can exceed 100.
TEST(Report, ConfidenceOfBleuStaysBelowOneHundred) {
  const auto folder = fresh_folder();
  const auto data = tiny_model().parent_path();
  auto said = lines_of(read_text(data / "dev.fr"));
  said[6].replace(said[6].rfind(' ') + 1, std::string::npos, "maison");
  std::string hypotheses;
  for (const auto& line : said) hypotheses += line + "\n";
  write_text(folder / "hypotheses", hypotheses);
  const auto page = (folder / "page.html").string();
  const auto finished =
      run({"report", tiny_model().string(), "-o", page, "-s", (data / "dev.en").string(), "-r",
           (data / "dev.fr").string(), "--hypotheses", (folder / "hypotheses").string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(read_text(page), HasSubstr("95 % confidence"));
  EXPECT_THAT(read_text(page), HasSubstr(" – 100.00"));
  EXPECT_THAT(read_text(page), Not(testing::ContainsRegex("– 1[0-9][0-9]\\.(0[1-9]|[1-9])")));
}

TEST(Report, TheIntervalOfAnErrorRateMayExceedOneHundred) {
  const auto folder = copy_of_run(tiny_model(), fresh_folder() / "run");
  const auto config = read_text(folder / "config.yaml");
  write_text(folder / "config.yaml",
             std::regex_replace(config, std::regex("early_stopping_metric: [a-z]+"),
                                "early_stopping_metric: wer"));
  const auto data = tiny_model().parent_path();
  std::string hypotheses;
  for (const auto& line : lines_of(read_text(data / "dev.fr"))) {
    hypotheses += line.size() % 2 == 0 ? "x x x x x x x x x x x x x x\n" : line + "\n";
  }
  write_text(folder / "hypotheses", hypotheses);
  const auto finished =
      run({"report", folder.string(), "-s", (data / "dev.en").string(), "-r",
           (data / "dev.fr").string(), "--hypotheses", (folder / "hypotheses").string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(read_text(folder / "report.html"),
              testing::ContainsRegex("– [1-9][0-9][0-9]\\.([1-9][0-9]|0[1-9])"));
}

TEST(Report, WritesOnePage) {
  const auto path = fresh_folder() / "page.html";
  const auto finished = run({"report", tiny_model().string(), "-o", path.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto page = read_text(path);
  expect_sound(page);
  for (const auto* part : {"<h1>Run tiny</h1>",
                           "<dt>languages</dt><dd>en → fr</dd>",
                           "<dt>attention</dt><dd>additive</dd>",
                           "<dt>parameters</dt>",
                           "train.en, ",
                           "<dt>last step</dt><dd>20",
                           "step of this report",
                           "and can be lower",
                           "most attended word",
                           "Loss per target token",
                           "BLEU and chrF, validation",
                           "Learning rate",
                           "Gradient norm",
                           "Speed, target tokens per second",
                           "BLEU by source length",
                           "95 % confidence",
                           "Validation translations over time",
                           "Best and worst sentences",
                           "class=\"viewer\"",
                           "class=\"tree\"",
                           "max_steps: 60",
                           "output_weight",
                           "training.max_steps reached (60)"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  // Shows the translations of the best validation.
  const auto kept = lines_of(read_text(tiny_model() / "validation" / "step-00000060.txt"));
  EXPECT_THAT(page, HasSubstr(kept[kept.size() / 2]));
}

TEST(Report, WritesIntoTheRunByDefault) {
  const auto folder = copy_of_run(tiny_model(), fresh_folder() / "run");
  const auto finished = run({"report", folder.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("report.html"));
  EXPECT_TRUE(fs::exists(folder / "report.html"));
}

TEST(Report, ScoresAnotherTextInsteadOfTheValidationText) {
  const auto folder = fresh_folder();
  write_text(folder / "a", "the cat .\nthe dog sees .\n");
  write_text(folder / "b", "le chat .\nle chien voit .\n");
  write_text(folder / "c", "le chat .\nle chat voit .\n");
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const auto finished = run({"report", tiny_model().string(), "-o", path("page"), "-s", path("a"),
                             "-r", path("b"), "--hypotheses", path("c")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(read_text(folder / "page"), HasSubstr("line 1: chrF 100.0"));
  write_text(folder / "c", "le chat .\n");
  const auto wrong = run({"report", tiny_model().string(), "-o", path("page"), "-s", path("a"),
                          "-r", path("b"), "--hypotheses", path("c")});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_EQ(run({"report", tiny_model().string(), "--hypotheses", path("c")}).code, 2);
}

TEST(Report, WorksWithoutTheValidationText) {
  const auto folder = copy_of_run(tiny_model(), fresh_folder() / "run");
  fs::remove(folder / "validation" / "source.txt");
  write_text(folder / "validations.tsv",
             read_text(folder / "validations.tsv") + "x\t\tnan\t1e999\t\t\t\t\t*\n");
  const auto finished = run({"report", folder.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("source.txt: no such file"));
  const auto page = read_text(folder / "report.html");
  expect_sound(page);
  EXPECT_THAT(page, AllOf(HasSubstr("Learning curves"), Not(HasSubstr("BLEU by source length"))));
}

TEST(Report, ScoresByLengthWithTheMetricThatChoseTheModel) {
  const auto folder = copy_of_run(tiny_model(), fresh_folder() / "run");
  const auto config = read_text(folder / "config.yaml");
  for (const auto& [metric, title] :
       std::map<std::string, std::string>{{"exact", "exact"}, {"loss", "BLEU"}}) {
    const auto chosen = "early_stopping_metric: " + metric;
    const std::regex key("early_stopping_metric: [a-z]+");
    ASSERT_TRUE(std::regex_search(config, key));
    write_text(folder / "config.yaml", std::regex_replace(config, key, chosen));
    const auto finished = run({"report", folder.string()});
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(read_text(folder / "report.html"), HasSubstr(title + " by source length"));
  }
}

// A run takes its validation text along, to a machine that does not have the data.
TEST(Report, NeedsNothingOutsideTheRun) {
  const auto folder = copy_of_run(tiny_model(), fresh_folder() / "run");
  const auto config = read_text(folder / "config.yaml");
  write_text(folder / "config.yaml", std::regex_replace(config, std::regex("dev\\.en"), "gone.en"));
  const auto finished = run({"report", folder.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, Not(HasSubstr("no such file")));
  EXPECT_THAT(read_text(folder / "report.html"), HasSubstr("BLEU by source length"));
  const auto corpus = toy_corpus(20, 2);  // toy_training()'s validation text
  EXPECT_EQ(read_text(folder / "validation" / "source.txt"), corpus.source);
  EXPECT_EQ(read_text(folder / "validation" / "reference.txt"), corpus.target);
}

// Two seeds of a model and a third run that differs in an option.
class ComparedRuns : public CliTest {
 protected:
  ComparedRuns() {
    const Words brief = {"training.max_steps=20", "training.validation_every=10"};
    const auto first = trained_once("tiny_brief", brief);
    // Trains with the data of the first run.
    const auto another = [&](const std::string& name, const std::string& difference) {
      return trained_once(
          name,
          brief + Words{difference, "training.model_dir=" + (cli_folder() / name / "run").string()},
          [&](const fs::path&) { return first.parent_path() / "config.yaml"; });
    };
    copy_of_run(first, path("a"));
    copy_of_run(another("tiny_brief_seed", "training.random_seed=43"), path("b"));
    copy_of_run(another("tiny_brief_dot", "model.attention.kind=dot"), path("c"));
    write_text(path("notes.txt"), "");
  }
  Words runs() const { return {path("a"), path("b"), path("c"), path("notes.txt")}; }
};

TEST_F(ComparedRuns, HaveARowEachAndMeansOverSeeds) {
  const auto finished = run(Words{"info"} + runs());
  EXPECT_THAT(finished.err, HasSubstr("notes.txt: not the folder of a run, left out"));
  EXPECT_THAT(finished.out, AllOf(HasSubstr("random_seed"), HasSubstr("BLEU (μ ± 95% CI)"),
                                  HasSubstr("a (baseline)"), HasSubstr("(p = ")));

  const auto json = Json::parse(run(Words{"info", "--json"} + runs()).out);
  ASSERT_EQ(json["runs"].size(), 3U);  // without notes.txt
  EXPECT_EQ(json["runs"][1]["name"], "b");
  EXPECT_EQ(json["runs"][1]["options"]["training.random_seed"], "43");
  EXPECT_EQ(json["runs"][2]["options"]["model.attention.kind"], "dot");
  EXPECT_FALSE(json["runs"][2]["options"].contains("training.max_steps"));

  // The scores are those of the translations that the runs kept.
  for (std::size_t r = 0; r < 3; ++r) {
    const auto& row = json["runs"][r];
    const auto validation = fs::path(path(row["name"])) / "validation";
    const auto hypotheses = validation / fmt::format("step-{:08}.txt", row["step"].get<int>());
    const auto scored = run({"evaluate", "--hypotheses", hypotheses.string(), "-r",
                             (validation / "reference.txt").string(), "--json", "--force"});
    const auto bleu = Json::parse(scored.out)["bleu"]["score"];
    EXPECT_EQ(json["validation"]["systems"][r]["bleu"]["score"], bleu);
    EXPECT_NEAR(row["scores"]["bleu"].get<double>(), bleu.get<double>(), 1e-6);
  }

  ASSERT_EQ(json["seeds"].size(), 1U);
  EXPECT_EQ(json["seeds"][0]["runs"], Json({"a", "b"}));
  const auto loss = [&](int r) { return json["runs"][r]["scores"]["loss"].get<double>(); };
  EXPECT_NEAR(json["seeds"][0]["mean"]["loss"].get<double>(), (loss(0) + loss(1)) / 2, 1e-9);
  EXPECT_NEAR(json["seeds"][0]["deviation"]["loss"].get<double>(),
              std::abs(loss(0) - loss(1)) / std::sqrt(2), 1e-9);
}

TEST_F(ComparedRuns, AreOnOnePage) {
  const auto finished = run(Words{"report", "-o", path("page.html")} + runs());
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto page = read_text(path("page.html"));
  expect_sound(page);
  for (const auto* part : {"<h1>3 runs</h1>", "Mean and standard deviation over seeds",
                           "95 % confidence intervals", "Loss per target token, validation",
                           "Sentences that differ most by chrF", "Configurations"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_EQ(run(Words{"report"} + runs() + Words{"-s", "x", "-r", "x", "--hypotheses", "x"}).code,
            2);
}

TEST_F(ComparedRuns, AreAtLeastTwoAndShareTheTextOfTheirTests) {
  const auto one = run({"info", path("a"), path("notes.txt")});
  EXPECT_EQ(one.code, 5);
  EXPECT_THAT(one.err, HasSubstr("found 1 run, expected at least two to compare"));

  const auto reference = fs::path(path("b")) / "validation" / "reference.txt";
  write_text(reference, "x" + read_text(reference));
  const auto other = run({"info", "--json", path("a"), path("b")});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("were validated on different texts"));
  EXPECT_FALSE(Json::parse(other.out).contains("validation"));
}

// The metric may have changed since the stars were written.
TEST(Report, BestValidationIsThatOfTheBestLink) {
  const auto folder = copy_of_run(tiny_model(), fresh_folder() / "run");
  write_text(folder / "validations.tsv",
             read_text(folder / "validations.tsv") + "61\t\t9\t9\t0\t0\t\t\t*\n");
  const auto step = fs::read_symlink(folder / "best").filename().string().substr(8);
  const auto finished = run({"report", folder.string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(read_text(folder / "report.html"),
              HasSubstr(fmt::format("<dt>step of this report</dt><dd>{}</dd>", std::stoi(step))));
}

TEST(Report, OfAModelNamesItsRun) {
  const auto folder = tiny_model();
  const auto checkpoint = fs::canonical(folder / "best").string();
  for (const auto& model : {(folder / "best").string(), checkpoint, checkpoint + "/"}) {
    for (const auto& more : {Words{}, Words{"-o", (fresh_folder() / "page.html").string()}}) {
      const auto finished = run(Words{"report", model} + more);
      EXPECT_EQ(finished.code, 5);
      EXPECT_THAT(finished.err, testing::ContainsRegex("did you mean `regard report .*/run`\\?"));
    }
  }
}

TEST(Report, FolderThatIsNoRunIsACheckpointError) {
  const auto finished = run({"report", fresh_folder().string()});
  EXPECT_EQ(finished.code, 5);
  EXPECT_THAT(finished.err, HasSubstr("not the folder of a run"));
}

}  // namespace
}  // namespace regard::report_test
