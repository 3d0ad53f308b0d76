#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/cli/run.h"

namespace regard::translate_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Translate, TranslatesLineByLineWithEmptyLines) {
  const auto finished = translate({}, "the cat sees\n\na dog hears\n\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_NE(lines[0], "");
  EXPECT_EQ(lines[1], "");
  EXPECT_NE(lines[2], "");
  EXPECT_EQ(lines[3], "");
  EXPECT_EQ(finished.err, "");
}

// More bytes than are read ahead at once. The first 8192 of each line are translated.
TEST(Translate, TranslatesLinesOfAMegabyte) {
  const auto folder = fresh_folder();
  std::string whole;
  std::string cut;
  for (std::size_t i = 0; i < 80; ++i) {
    const std::string words = i % 3 == 0 ? "the cat sees " : i % 3 == 1 ? "a dog " : "";
    cut += words + std::string(8192 - words.size(), 'x') + "\n";
    whole += words + std::string((std::size_t{1} << 20) - words.size(), 'x') + "\n";
  }
  write_text(folder / "whole", whole);
  write_text(folder / "cut", cut);
  const auto finished = translate({"-i", (folder / "whole").string()});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err, HasSubstr(":80: the line has 1048576 bytes"));
  EXPECT_THAT(lines_of(finished.out), SizeIs(80));
  EXPECT_EQ(finished.out, translate({"-i", (folder / "cut").string()}).out);
}

TEST(Translate, TinyModelHasLearntSomething) {
  const auto lines = lines_of(translate({}, "the\ncat\nsees\ndog\n").out);
  EXPECT_THAT(lines, Contains(HasSubstr("chat")));
}

TEST(Translate, AnswersAPipeBeforeItEnds) {
  for (const auto* threads : {"1", "2"}) {
    Running running({"translate", "-m", tiny_model().string(), "--threads", threads});
    running.write("the cat sees\n");
    const auto first = running.read_line();
    ASSERT_TRUE(first.has_value());
    EXPECT_NE(*first, "");
    running.write("\n");
    EXPECT_EQ(running.read_line(), "");
    const auto finished = running.finish();
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.out, *first + "\n\n");
  }
}

// More lines than a window of 2 sentences per batch, with warnings about two of them.
TEST(Translate, ThreadsChangeNeitherOutputNorWarnings) {
  const auto input = fresh_folder() / "in.en";
  const auto lines = lines_of(toy_corpus(150, 4).source);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_long = i == 50 || i == 100;
    text += (i == 30 ? "" : is_long ? std::string(9000, 'x') : lines[i]) + "\n";
  }
  write_text(input, text);
  const auto run_with = [&](const std::string& threads) {
    return translate({"-i", input.string(), "--batch-size", "2", "--threads", threads});
  };
  const auto one = run_with("1");
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(lines_of(one.out), SizeIs(150));
  EXPECT_THAT(one.err, HasSubstr(":51: the line has 9000 bytes"));
  for (const auto* threads : {"2", "7"}) {
    const auto several = run_with(threads);
    EXPECT_EQ(several.out, one.out);
    auto warnings = lines_of(several.err);
    std::erase_if(warnings, [](const auto& line) { return line.find("threads: ") != line.npos; });
    EXPECT_EQ(warnings, lines_of(one.err));
  }
}

TEST(Translate, WritesTheLinesBeforeAnError) {
  const auto folder = fresh_folder();
  const auto good = toy_corpus(90, 4).source;
  write_text(folder / "good", good);
  write_text(folder / "bad", good + "the \xFF\nthe cat\n");
  const auto expected = translate({"-i", (folder / "good").string()}).out;
  for (const auto* threads : {"1", "2", "7"}) {
    const auto finished =
        translate({"-i", (folder / "bad").string(), "--batch-size", "1", "--threads", threads});
    EXPECT_EQ(finished.code, 3);
    EXPECT_THAT(finished.err, HasSubstr("bad:91: byte 5"));
    EXPECT_EQ(finished.out, expected) << threads;
  }
}

TEST(Translate, FileEqualsStandardOutput) {
  const auto out = fresh_folder() / "out.fr";
  write_text(out, "older\n");
  const auto finished = translate({"-o", out.string()}, "the cat\n\na dog\n");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(read_text(out), translate({}, "the cat\n\na dog\n").out);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out.parent_path()), {}), 1);
}

TEST(Translate, ErrorKeepsTheOldFile) {
  const auto out = fresh_folder() / "out.fr";
  write_text(out, "older\n");
  const auto finished = translate({"-o", out.string()}, "the cat\n\xFF\n");
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(read_text(out), "older\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out.parent_path()), {}), 1);
}

TEST(Translate, DoesNotOverwriteItsInput) {
  const auto folder = fresh_folder();
  const auto text = (folder / "text.en").string();
  write_text(text, "the cat\n");
  EXPECT_EQ(translate({"-i", text, "-o", text}).code, 2);
  EXPECT_EQ(read_text(text), "the cat\n");
  const auto out = (folder / "out").string();
  EXPECT_EQ(translate({"-i", text, "-o", out, "--alignments", out}).code, 2);
}

TEST(Translate, UnwritableOutputIsAnEnvironmentError) {
  const auto finished = translate({"-o", (fresh_folder() / "no" / "out.fr").string()}, "the\n");
  EXPECT_EQ(finished.code, 6);
  EXPECT_THAT(finished.err, HasSubstr("out.fr: cannot be written"));
}

TEST(Translate, KeepsFilesWithSimilarNames) {
  const auto folder = fresh_folder();
  write_text(folder / "out.part", "the cat\n");
  const auto finished =
      translate({"-i", (folder / "out.part").string(), "-o", (folder / "out").string()});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_text(folder / "out.part"), "the cat\n");
  EXPECT_EQ(read_text(folder / "out"), translate({}, "the cat\n").out);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
}

TEST(Translate, WritesThroughALink) {
  const auto folder = fresh_folder();
  write_text(folder / "real", "old\n");
  std::filesystem::create_symlink("real", folder / "link");
  const auto finished = translate({"-o", (folder / "link").string()}, "the cat\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "real"), translate({}, "the cat\n").out);
}

TEST(Translate, NBestHasMosesFormat) {
  const auto finished = translate({"--n-best", "2"}, "the cat\n\na dog\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_THAT(lines, SizeIs(5));
  const std::regex format(R"((\d+) \|\|\| (.*) \|\|\| logprob= (-?\d+\.\d+) \|\|\| (-?\d+\.\d+))");
  std::vector<std::string> numbers;
  for (const auto& line : lines) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, format)) << line;
    numbers.push_back(parts[1]);
  }
  EXPECT_THAT(numbers, testing::ElementsAre("0", "0", "1", "2", "2"));
  EXPECT_EQ(lines[2], "1 |||  ||| logprob= 0.0000 ||| 0.0000");
  const auto best = translate({}, "the cat\n");
  EXPECT_EQ(lines[0].rfind("0 ||| " + lines_of(best.out)[0] + " ||| ", 0), 0u) << lines[0];
}

// Appends like `>>` instead of overwriting the file.
TEST(Translate, AppendsToAnOpenDescriptor) {
  const auto file = (fresh_folder() / "log").string();
  const auto command = std::string(REGARD_BINARY_DIR) + "/regard translate -q --threads 1 -m " +
                       tiny_model().string() + " -o ";
  for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/3"}) {
    const auto script =
        "{ echo before; echo the cat | " + command + name + " 3>&1; echo after; } > " + file;
    ASSERT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0) << name;
    const auto lines = lines_of(read_text(file));
    ASSERT_THAT(lines, SizeIs(3)) << name;
    EXPECT_EQ(lines[0], "before") << name;
    EXPECT_EQ(lines[2], "after") << name;
  }
}

TEST(Translate, OptionsForTheBestRejectSamples) {
  for (const std::string option : {"--explain", "--show-attention", "--scores"}) {
    const auto refused = translate({"--samples", "2", option}, "the cat\n");
    EXPECT_EQ(refused.code, 2) << option;
    EXPECT_THAT(refused.err, HasSubstr(option));
    EXPECT_EQ(refused.out, "");
  }
}

TEST(Translate, RejectsNBestBeyondTheBeam) {
  const auto finished = translate({"--n-best", "4"}, "the cat\n");  // this model's beam_size is 3
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--beam-size"));
  EXPECT_EQ(translate({"--n-best", "4", "--beam-size", "4"}, "the cat\n").code, 0);
}

TEST(Translate, AlignsEachTargetWord) {
  const auto file = fresh_folder() / "out.align";
  const auto finished =
      translate({"--alignments", file.string()}, "the cat sees a dog\n\na bird\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(read_text(file));
  const auto targets = lines_of(finished.out);
  const std::vector<int> source_words{5, 0, 2};
  ASSERT_THAT(lines, SizeIs(3));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::istringstream links(lines[i]);
    std::istringstream words(targets[i]);
    const auto target_words = std::distance(std::istream_iterator<std::string>(words), {});
    std::vector<int> linked(static_cast<std::size_t>(target_words), 0);
    int s = 0;
    char dash = 0;
    std::size_t t = 0;
    while (links >> s >> dash >> t) {
      EXPECT_LT(s, source_words[i]);
      ++linked.at(t);
    }
    EXPECT_THAT(linked, testing::Each(1)) << lines[i];
  }
}

TEST(Translate, ExplainPrintsTheNumbersOfEachStep) {
  const auto plain = lines_of(translate({}, "the cat\nsmall\n").out);
  const auto finished = translate({"--explain"}, "the cat\nsmall\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("line 1: " + plain[0] + "\n"));
  EXPECT_THAT(finished.out, HasSubstr("line 2: " + plain[1] + "\n"));
  for (const std::string part : {"step 1: ", "P = 0.", "query = (", "score e_ts", "weight α_ts",
                                 "  1  the ", "  2  cat ", "  3  </s> ", "context = ("}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
  EXPECT_EQ(translate({"--explain", "--n-best", "2"}, "the cat\n").code, 2);
}

TEST(Translate, SvgPictureShowsTheFirstSentence) {
  const auto picture = fresh_folder() / "p.svg";
  const auto finished = translate({"--picture", picture.string()}, "the cat\nsmall\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_text(picture).rfind("<svg", 0), 0u);
  EXPECT_THAT(read_text(picture), HasSubstr("cat"));
  EXPECT_THAT(read_text(picture), testing::Not(HasSubstr("small")));
}

TEST(Translate, RejectsOtherPictureFormats) {
  const auto finished = translate({"--picture", "p.png"}, "the\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("found the ending `.png`, expected .svg"));
}

TEST(Translate, APictureIsNoPage) {
  const auto page = fresh_folder() / "p.html";
  const auto finished = translate({"--picture", page.string()}, "the\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("use --report for a page"));
  EXPECT_FALSE(std::filesystem::exists(page));
}

TEST(Translate, ModelWithoutAttentionHasNoAlignments) {
  const auto model = tiny_fixed_context().string();
  EXPECT_EQ(lines_of(run({"translate", "-m", model}, "the cat\n").out).size(), 1u);
  const auto file = fresh_folder() / "out.align";
  const auto finished = run({"translate", "-m", model, "--alignments", file.string()}, "the cat\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("has no attention"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Translate, MissingModelIsACheckpointError) {
  const auto finished = run({"translate", "-m", "no/such/run"}, "the\n");
  EXPECT_EQ(finished.code, 5);
  EXPECT_THAT(finished.err, HasSubstr("no/such/run"));
}

TEST(Translate, MissingInputIsAnInputError) {
  const auto finished = translate({"-i", "no/such/text"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("no/such/text"));
}

TEST(Translate, UnknownOptionsAndInvalidNumbersAreUsageErrors) {
  EXPECT_EQ(translate({"--beamsize", "3"}).code, 2);
  const auto finished = translate({"--beam-size", "0"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--beam-size: found `0`, expected a whole number from 1"));
  EXPECT_EQ(translate({"--beam-size", "2.5"}).code, 2);
  EXPECT_EQ(translate({"--device", "tpu"}).code, 2);
}

TEST(Translate, UnknownWordsAreAWarningWithTheirShare) {
  const auto attached = translate({}, "the cat sees\nthe dog sees.\n");
  EXPECT_EQ(attached.code, 0);
  EXPECT_THAT(attached.err, HasSubstr("1 of 6 tokens (17 %) is not in the model's vocabulary, the "
                                      "first `sees.` (standard input:2); `sees` is: the training "
                                      "text has a space before the mark"));
  EXPECT_THAT(translate({}, "the wombat sees\n").err,
              HasSubstr("the first `wombat` (standard input:1)\n"));
  EXPECT_EQ(translate({}, "the cat sees\n").err, "");
}

}  // namespace
}  // namespace regard::translate_test
