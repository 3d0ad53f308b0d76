// Output formats of translations, splitting of long lines, and replacement of <unk>.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/json.h"
#include "tests/cli/run.h"

namespace regard::translation_text_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(TranslationText, ScoresAreBeforeTheTextAndWordScoresAfterIt) {
  const std::string input = "the cat\n\na dog\n";
  const auto plain = lines_of(translate({}, input).out);
  const auto finished = translate({"--scores", "--word-scores"}, input);
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_THAT(lines, SizeIs(3));
  const std::regex format(R"((-?[0-9.]+)\t(-?[0-9.]+)\t([^\t]*)\t(.*))");
  for (std::size_t i = 0; i < 3; ++i) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(lines[i], parts, format)) << lines[i];
    EXPECT_EQ(parts[3], plain[i]);
    double sum = 0;
    const std::string words = parts[4];
    const std::regex figure("=(-?[0-9.]+)");
    for (std::sregex_iterator at(words.begin(), words.end(), figure), end; at != end; ++at) {
      sum += std::stod((*at)[1]);
    }
    EXPECT_NEAR(sum, std::stod(parts[1]), 1e-3);
  }
  EXPECT_EQ(lines[1], "0.0000\t0.0000\t\t");
}

TEST(TranslationText, NBestListHasWordScoresAsAFeature) {
  const auto folder = fresh_folder();
  write_text(folder / "s", "the cat\n");
  const auto list = translate({"--n-best", "2", "--word-scores"}, "the cat\n");
  ASSERT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(lines_of(list.out)[0], HasSubstr(" words= "));
  write_text(folder / "n", list.out);
  const auto rescored = run({"score", "-m", tiny_model().string(), "-s", (folder / "s").string(),
                             "--n-best", (folder / "n").string()});
  EXPECT_EQ(rescored.code, 0) << rescored.err;
}

TEST(TranslationText, JsonHasAnObjectPerLine) {
  const std::string input = "the cat\n\na \"dog\"\n";
  const auto plain = lines_of(translate({}, input).out);
  const auto finished = translate({"--json"}, input);
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_THAT(lines, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto object = parse_json(lines[i]);
    ASSERT_TRUE(object.is_object()) << lines[i];
    EXPECT_EQ(object["line"], i + 1);
    EXPECT_EQ(object["source"], lines_of(input)[i]);
    EXPECT_EQ(object["text"], plain[i]);
    double sum = 0;
    for (const auto& word : object["words"]) sum += word["log_probability"].get<double>();
    EXPECT_NEAR(sum, object["log_probability"].get<double>(), 1e-9);
    EXPECT_TRUE(object["finished"].get<bool>());
    EXPECT_EQ(object["words"].empty(), i == 1);
  }
  const auto list = parse_json(lines_of(translate({"--json", "--n-best", "3"}, input).out)[0]);
  ASSERT_THAT(list["hypotheses"], SizeIs(3));
  EXPECT_EQ(list["hypotheses"][0]["text"], plain[0]);
  EXPECT_GE(list["hypotheses"][0]["score"], list["hypotheses"][1]["score"]);
}

TEST(TranslationText, AttentionWeightsAreJson) {
  const auto file = fresh_folder() / "attention.jsonl";
  const auto finished =
      translate({"--attention-weights", file.string()}, "the cat sees\n\na dog\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(read_text(file));
  ASSERT_THAT(lines, SizeIs(3));
  const auto object = parse_json(lines[0]);
  EXPECT_EQ(object["source"].dump(), R"(["the","cat","sees","</s>"])");
  ASSERT_EQ(object["weights"].size(), object["target"].size());
  for (const auto& row : object["weights"]) {
    double sum = 0;
    for (const auto& weight : row) {
      sum += weight.get<double>();
      EXPECT_THAT(weight.dump(), testing::SizeIs(testing::Le(9))) << "not rounded to six decimals";
    }
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  EXPECT_EQ(lines[1], R"({"line":2,"source":[],"target":[],"weights":[]})");
}

TEST(TranslationText, TranslatesLongLinesInParts) {
  const std::string long_line = "the cat sees a dog . the old bird hears and sees";
  const auto parts =
      lines_of(translate({}, "the cat sees a dog .\nthe old bird hears and sees\n").out);
  const auto align = (fresh_folder() / "a").string();
  const auto finished = translate({"--split-length", "7", "--alignments", align},
                                  "a dog\n" + long_line + "\n\nthe\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[1], parts[0] + " " + parts[1]);
  EXPECT_EQ(lines[0], lines_of(translate({}, "a dog\n").out)[0]);
  EXPECT_EQ(lines[2], "");
  const auto links = lines_of(read_text(align));
  ASSERT_THAT(links, SizeIs(4));
  EXPECT_THAT(links[1], testing::ContainsRegex("[6-9]-|1[01]-"));  // of the second part
  const auto one =
      translate({"--split-length", "7", "--batch-size", "1"}, "a dog\n" + long_line + "\n\nthe\n");
  EXPECT_EQ(one.out, finished.out);
}

TEST(TranslationText, ReadsLongLinesToTheEnd) {
  std::string line = "the cat sees a dog .";
  while (line.size() < 20'000) line += " the cat sees a dog .";
  const auto finished = translate({"--split-length", "6", "--beam-size", "1"}, line + "\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("are read")));
  const auto part = lines_of(translate({"--beam-size", "1"}, "the cat sees a dog .\n").out)[0];
  auto wanted = part;
  for (std::size_t i = 1; i < (line.size() + 1) / 21; ++i) wanted += " " + part;
  EXPECT_TRUE(finished.out == wanted + "\n");
  const auto cut = translate({"--split-length", "6"}, std::string(9'000, 'x') + "\n");
  EXPECT_THAT(cut.err, HasSubstr("standard input:1: the line has 9000 bytes"));
}

TEST(TranslationText, JoinsBlankAndTruncatedParts) {
  const auto picture = (fresh_folder() / "p.svg").string();
  const auto finished = translate(
      {"--split-length", "3", "--max-output-length", "2", "--picture", picture, "--word-scores"},
      "the cat sees a dog .\n\u00a0 the \u00a0 \u00a0 \u00a0 cat\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(lines_of(finished.out), SizeIs(2));
  EXPECT_THAT(finished.err, HasSubstr("cut off"));
}

TEST(TranslationText, ModelOutputsKeepUnk) {
  const auto finished = translate({"--replace-unknown", "--explain"}, "the\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--replace-unknown cannot be combined with --explain"));
}

TEST(TranslationText, SplittingRejectsOptionsForWholeLines) {
  const auto file = fresh_folder() / "p";
  write_text(file, "le\n");
  for (const Words& option :
       {Words{"--n-best", "2"}, {"--samples", "2"}, {"--explain"}, {"--prefixes", file.string()}}) {
    const auto finished = translate(option + Words{"--split-length", "5"}, "the\n");
    EXPECT_EQ(finished.code, 2) << option[0];
    EXPECT_THAT(finished.err, HasSubstr("--split-length cannot be combined with")) << option[0];
  }
}

TEST(TranslationText, ReplacingWithoutUnkChangesNothing) {
  const auto input = toy_corpus(20, 9).source;
  EXPECT_EQ(translate({"--replace-unknown"}, input).out, translate({}, input).out);
  const auto refused =
      run({"translate", "-m", tiny_fixed_context().string(), "--replace-unknown"}, "the\n");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no attention"));
  const auto dictionary = fresh_folder() / "d";
  write_text(dictionary, "the le\n");
  const auto broken =
      translate({"--replace-unknown", "--dictionary", dictionary.string()}, "the\n");
  EXPECT_EQ(broken.code, 3);
  EXPECT_THAT(broken.err, HasSubstr("d:1: found `the le`, expected a source word, a tab"));
}

// All words are rare here, so the model mostly outputs <unk>.
TEST(TranslationText, ReplacesUnkBySourceOrDictionary) {
  const auto folder = fresh_folder();
  const auto config = toy_training(folder);
  const auto trained = run({"train", "-c", config.string(), "training.max_steps=30",
                            "data.tokenizer.vocabulary_size=7"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto model = (folder / "run").string();
  const auto plain = run({"translate", "-m", model}, "cat dog bird\n").out;
  ASSERT_THAT(plain, HasSubstr("<unk>"));
  const auto replaced = run({"translate", "-m", model, "--replace-unknown"}, "cat dog bird\n").out;
  EXPECT_THAT(replaced, testing::Not(HasSubstr("<unk>")));
  EXPECT_THAT(replaced, testing::ContainsRegex("cat|dog|bird"));

  // Each word of a multi-word translation has its own link, score and position.
  const auto dictionary = folder / "dictionary", links = folder / "links";
  write_text(dictionary, "cat\tun grand chat\ndog\tun chien\nbird\tun\n");
  const auto by_dictionary = run({"translate", "-m", model, "--replace-unknown", "--dictionary",
                                  dictionary.string(), "--alignments", links.string(), "--json"},
                                 "cat dog bird\n");
  ASSERT_EQ(by_dictionary.code, 0) << by_dictionary.err;
  const auto best = parse_json(by_dictionary.out);
  const auto text = best.at("text").get<std::string>();
  EXPECT_THAT(text, HasSubstr("un"));
  const auto words = 1 + std::ranges::count(text, ' ');
  const auto found = read_text(links);
  EXPECT_EQ(std::ranges::count(found, '-'), words);
  EXPECT_EQ(std::ranges::count_if(best.at("words"),
                                  [](const Json& word) { return word.at("word") != "</s>"; }),
            words);
}

}  // namespace
}  // namespace regard::translation_text_test
