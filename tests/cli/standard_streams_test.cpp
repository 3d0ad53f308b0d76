// "-" for standard input and output, and .gz names for compressed text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/json.h"
#include "data/line_reader.h"
#include "tests/cli/run.h"
#include "tests/cli/train.h"

namespace regard::standard_streams_test {
namespace {

using testing::HasSubstr;

class StandardStreams : public CliTest {
 protected:
  StandardStreams() {
    const auto corpus = toy_corpus(5, 7);
    write_text(folder_ / "src", corpus.source);
    write_text(folder_ / "trg", corpus.target);
  }
  // Runs the command with the tiny model.
  Finished with_model(const std::string& verb, const Words& more,
                      const std::string& input = "") const {
    return run(Words{verb, "-m", tiny_model().string(), "--threads", "1"} + more, input);
  }
  void expect_misuse(const Finished& finished, const std::string& message) const {
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(finished.out, "");
  }
};

TEST_F(StandardStreams, EvaluateReadsAnyTextFromStandardInput) {
  const auto source = read_text(folder_ / "src");
  const auto scored = run({"evaluate", "--hypotheses", path("src"), "-r", path("trg")});
  ASSERT_EQ(scored.code, 0) << scored.err;
  const auto piped = run({"evaluate", "--hypotheses", "-", "-r", path("trg")}, source);
  EXPECT_EQ(piped.out, scored.out) << piped.err;
  const auto target = read_text(folder_ / "trg");
  EXPECT_EQ(run({"evaluate", "--hypotheses", path("src"), "-r", "-"}, target).out, scored.out);
  const auto compared =
      run({"evaluate", "--hypotheses", path("trg"), "-", "-r", path("trg"), "--paired-bs"}, source);
  EXPECT_THAT(compared.out, HasSubstr("standard input"));
}

TEST_F(StandardStreams, ScoreReadsAnyTextFromStandardInput) {
  const auto scored = with_model("score", {"-s", path("src"), "-t", path("trg")});
  ASSERT_EQ(scored.code, 0) << scored.err;
  const auto source = read_text(folder_ / "src");
  EXPECT_EQ(with_model("score", {"-s", "-", "-t", path("trg")}, source).out, scored.out);
  const auto list = "0 ||| le chat\n";
  const auto rescored = with_model("score", {"-s", path("src"), "--n-best", "-"}, list);
  EXPECT_EQ(rescored.code, 0) << rescored.err;
  EXPECT_THAT(rescored.out, HasSubstr("0 ||| le chat ||| regard= -"));
}

TEST_F(StandardStreams, TranslateReadsConstraintsFromStandardInput) {
  write_text(folder_ / "phrases", "le\n\n\n\n\n");
  const auto required = with_model("translate", {"-i", path("src"), "--require", path("phrases")});
  ASSERT_EQ(required.code, 0) << required.err;
  const auto piped = with_model("translate", {"-i", path("src"), "--require", "-"}, "le\n\n\n\n\n");
  EXPECT_EQ(piped.out, required.out) << piped.err;
}

TEST_F(StandardStreams, ErrorsNameStandardInput) {
  const auto finished = with_model("score", {"-s", "-", "-t", path("trg")}, "a\n\xFF\n");
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("standard input:2: byte 1"));
  const auto list = with_model("score", {"-s", path("src"), "--n-best", "-"}, "0 ||| a\nx ||| b\n");
  EXPECT_EQ(list.code, 3);
  EXPECT_THAT(list.err, HasSubstr("standard input:2: found 'x'"));
}

TEST_F(StandardStreams, OnlyOneTextAndOneOutput) {
  expect_misuse(run({"evaluate", "--hypotheses", "-", "-r", "-"}),
                "standard input can be read only once");
  expect_misuse(with_model("translate", {"--prefixes", "-"}),
                "standard input can be read only once");
  expect_misuse(with_model("score", {"-s", path("src"), "-t", path("trg"), "--align", "-"}),
                "standard output can have only one output");
}

TEST_F(StandardStreams, TrainingRejectsStandardInput) {
  const auto config = toy_training(folder_ / "training");
  const auto finished = run({"train", "-c", config.string(), "data.train.0.src=-"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("data.train.0.src: no such file: -"));
}

TEST_F(StandardStreams, GzOutputIsCompressed) {
  const auto plain = with_model("translate", {"-i", path("src")});
  ASSERT_EQ(plain.code, 0) << plain.err;
  const auto finished = with_model("translate", {"-i", path("src"), "-o", path("out.gz")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_lines(path("out.gz")), lines_of(plain.out));
  EXPECT_EQ(read_text(folder_ / "out.gz").substr(0, 2), "\x1F\x8B");
}

// Daemons and cron may start a program with a closed standard descriptor. Its first file would then
// take that descriptor.
class ClosedStreams : public StandardStreams {
 protected:
  // Runs a shell line with redirections; $regard is the program.
  static int bash(const std::string& line, const std::string& program = "/regard") {
    const auto command = "regard=" REGARD_BINARY_DIR + program + "; " + line;
    return WEXITSTATUS(std::system(("bash -c '" + command + "' >/dev/null 2>&1").c_str()));
  }
};

TEST_F(ClosedStreams, OutputDoesNotGoToFiles) {
  file("long", std::string(9000, 'a') + "\n");  // cut, with a warning
  const auto check = [&](const std::string& source, const std::string& program,
                         const std::vector<std::string>& redirections) {
    const auto expected = with_model("translate", {"-i", path(source)}).out;
    const auto command = "$regard translate --threads 1 -m " + tiny_model().string() + " -o " +
                         path("out") + " -i " + path(source) + " ";
    for (const auto& closed : redirections) {
      ASSERT_EQ(bash(command + closed, program), 0) << closed;
      EXPECT_EQ(read_text(folder_ / "out"), expected) << closed;
    }
  };
  check("long", "/regard",
        {"<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- 2>&-", "<&- >&- 2>&-"});
  check("src", "/regard-torch", {"<&-", ">&-", "2>&-"});
}

TEST_F(ClosedStreams, TrainingWritesTheSameFiles) {
  const auto config = toy_training(folder_ / "training").string();
  const auto train = [&](const std::string& redirections) {
    std::filesystem::remove_all(folder_ / "training" / "run");
    EXPECT_EQ(bash("$regard train threads=1 training.max_steps=20 training.logging_every=10 -c " +
                   config + " " + redirections),
              0)
        << redirections;
    const auto run = folder_ / "training" / "run";
    std::string steps;  // what takes time differs
    for (const auto& line : lines_of(read_text(run / "train.jsonl"))) {
      const auto object = Json::parse(line);
      steps += object.at("step").dump() + " " + object.value("loss", Json()).dump() + "\n";
    }
    EXPECT_EQ(std::stoi(read_text(run / ".lock")) > 0, true);
    EXPECT_EQ(lines_of(read_text(run / ".lock")).size(), 1);
    return steps + read_text(run / "last" / "model.safetensors");
  };
  const auto expected = train("</dev/null >/dev/null 2>/dev/null");
  for (const auto* closed : {"<&-", "2>&-", "<&- >&- 2>&-"})
    EXPECT_EQ(train(closed), expected) << closed;
}

TEST_F(ClosedStreams, ClosedOutputIsAnError) {
  const auto model = " -m " + tiny_model().string() + " --threads 1 ";
  const auto messages = path("messages");
  for (const auto& command :
       {"translate -i " + path("src") + model,
        "score -s " + path("src") + " -t " + path("trg") + model,
        "evaluate --hypotheses " + path("src") + " -r " + path("trg"),
        "info " + tiny_model().string(), "translate -o /dev/stdout -i " + path("src") + model,
        "translate -o /dev/fd/1 -i " + path("src") + model, std::string("config print"),
        std::string("config docs"), std::string("completions bash"), std::string("man"),
        std::string("--help"), std::string("--version")}) {
    EXPECT_EQ(bash("$regard " + command + " >&- 2>" + messages), 6) << command;
    EXPECT_THAT(read_text(messages), HasSubstr("standard output: cannot be written")) << command;
  }
}

TEST_F(ClosedStreams, ClosedInputIsAnError) {
  const auto command = "$regard translate --threads 1 -m " + tiny_model().string() + " -o " +
                       path("out") + " <&- 2>" + path("messages");
  EXPECT_EQ(bash(command), 3);
  EXPECT_THAT(read_text(folder_ / "messages"), HasSubstr("standard input: reading failed"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace regard::standard_streams_test
