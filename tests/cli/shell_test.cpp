// Help with examples, completions, manual pages and --quiet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "tests/cli/all_commands.h"
#include "tests/cli/run.h"
#include "tests/cli/train.h"

namespace regard::shell_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Returns the words of an example, from `regard` up to a pipe or redirection.
std::vector<std::string> words_of(const std::string& example) {
  auto text = example.substr(example.find("regard"));
  text = text.substr(0, std::min({text.find(" |"), text.find(" >"), text.find(')')}));
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool is_understood(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  CommandLine command_line;
  return !command_line.parse(static_cast<int>(argv.size()), argv.data()).has_value();
}

TEST(Shell, EveryCommandHasValidExamples) {
  const CommandLine command_line;
  const auto program = command_line.outline();
  ASSERT_GE(all_commands(program).size(), 10u);
  for (const auto& command : all_commands(program)) {
    EXPECT_THAT(command.examples, Not(IsEmpty())) << command.name;
    for (const auto& example : command.examples) {
      EXPECT_TRUE(is_understood(words_of(example.command))) << example.command;
      EXPECT_THAT(example.command, HasSubstr(command.commands.empty() ? command.name : "regard"));
    }
  }
  EXPECT_FALSE(is_understood({"regard", "train"}));
}

TEST(Shell, HelpEndsWithExamples) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"train", "--help"}, {"config", "init", "--help"}}) {
    const auto finished = run(words);
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.out, HasSubstr("\nExamples:\n  "));
  }
}

TEST(Shell, EveryOptionHasATypeNameAndHelp) {
  const CommandLine command_line;
  const auto program = command_line.outline();
  for (const auto& command : all_commands(program)) {
    for (const auto& option : command.options) {
      EXPECT_THAT(option.value, Not(testing::AnyOf("TEXT", "INT", "UINT", "FLOAT")))
          << command.name << " " << option.names.back() << ": give it a type_name";
      EXPECT_THAT(option.help, Not(IsEmpty())) << command.name << " " << option.names.back();
    }
  }
}

TEST(Shell, CompletesWordsAsEachShellSplitsThem) {
  const auto program = CommandLine().outline();
  const auto lines = [&](const std::vector<std::string>& words) {
    return completion_candidates(program, words);
  };
  EXPECT_EQ(lines({"completions", ""}), "bash\nzsh\nfish\n");
  EXPECT_EQ(lines({"config", "print", "training.batch_type=t"}),
            "training.batch_type=token\ntraining.batch_type=sentence\n");
  for (const std::vector<std::string>& bash :
       {std::vector<std::string>{"="}, {"=", ""}, {"=", "t"}}) {
    std::vector<std::string> words = {"train", "training.batch_type"};
    words.insert(words.end(), bash.begin(), bash.end());
    EXPECT_EQ(lines(words), "token\nsentence\n");
  }
  EXPECT_THAT(lines({"train", "training.batch_type", ""}), HasSubstr("\ntraining.batch_type=\t"));
  EXPECT_THAT(lines({"train", "-"}), HasSubstr("--config\tconfiguration file\n"));
  EXPECT_EQ(lines({"train", "-c", "x"}), ":files\n");
  EXPECT_EQ(lines({"train", "--init-from=x"}), ":folders=\n");
  EXPECT_EQ(lines({"translate", "-i", "lr=1/x"}), ":files\n") << "the name of a file has a =";
  EXPECT_EQ(lines({"evaluate", "--hypotheses", "a", "--lowercase", "-r", "b", "c"}), ":files\n");
  EXPECT_EQ(lines({"completions", "bash", ""}), "") << "it takes one word";
  EXPECT_EQ(lines({"translate", "--beam-size", ""}), "");
}

TEST(Shell, CompletesTheNextNameOfAList) {
  const auto program = CommandLine().outline();
  const auto lines = [&](const std::vector<std::string>& words) {
    return completion_candidates(program, words);
  };
  EXPECT_THAT(lines({"evaluate", "--metrics", "ch"}), StartsWith("bleu\nchrf\n"));
  EXPECT_THAT(lines({"evaluate", "--metrics", "ter,ch"}), StartsWith("ter,bleu\nter,chrf\n"));
  EXPECT_THAT(lines({"evaluate", "--metrics=ter,"}), StartsWith("--metrics=ter,bleu\n"));
  EXPECT_THAT(lines({"evaluate", "--metrics", "=", "ter,"}), StartsWith("ter,bleu\n"));
}

TEST(Shell, ACandidateHasItsHelpBesideItsCondition) {
  EXPECT_THAT(completion_candidates(CommandLine().outline(), {"translate", "-"}),
              HasSubstr("--temperature\tsamples above 0: divisor of the logits\n"));
}

TEST(Shell, CompletingIsSilent) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"__complete"},
        {"__complete", "--", "=", "="},
        {"__complete", "config", "x y", "--no-such=", "\t"}}) {
    const auto finished = run(words);
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.err, "");
  }
  EXPECT_THAT(run({"--help-all"}).out, Not(HasSubstr("__complete")));
}

TEST(Shell, UnknownShellHasASuggestion) {
  const auto finished = run({"completions", "zhs"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("zhs"), HasSubstr("did you mean `zsh`?")));
}

TEST(Shell, PrintsAndWritesManualPages) {
  const auto folder = fresh_folder() / "man1";
  EXPECT_EQ(run({"man", "--into", folder.string()}).code, 0);
  const auto page = run({"man", "translate"});
  EXPECT_THAT(page.out, StartsWith(".TH REGARD\\-TRANSLATE 1 "));
  EXPECT_EQ(read_text(folder / "regard-translate.1"), page.out);
  const auto finished = run({"man", "transalte"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("did you mean 'translate'?"));
  EXPECT_THAT(run({"man", "backtranslate"}).err, HasSubstr("did you mean 'synthesize'?"));
}

TEST(Shell, MisspeltValueHasASuggestion) {
  const auto finished = run({"translate", "-m", "x", "--early-stopping", "exakt"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("did you mean `exact`?"));
}

class Quiet : public Train {};

TEST_F(Quiet, TrainingPrintsNothingAndLogsEverything) {
  const auto finished = train({"--quiet"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(read_text(folder_ / "run" / "train.log"), HasSubstr("Stopped at step 60"));
}

TEST_F(Quiet, PrintsWarningsAndErrors) {
  EXPECT_THAT(run({"info", "-q", "/no/such/run"}).err, StartsWith("error: "));
}

TEST_F(Quiet, JsonEqualsTheOutputOfInfo) {
  const auto finished = train({"--json", "-q"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, StartsWith("{"));
  EXPECT_EQ(finished.out, run({"info", (folder_ / "run").string(), "--json"}).out);
}

}  // namespace
}  // namespace regard::shell_test
