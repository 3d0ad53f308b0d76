// What a command line that cannot be understood gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/run.h"

namespace regard {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Usage, AMisspeltCommandHasASuggestion) {
  const auto finished = run({"trian", "-c", "x.yaml"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err,
              AllOf(StartsWith("error: "), HasSubstr("`train`"), HasSubstr("regard --help")));
}

// "there are a, b, c" or "give a, b or c", as "a|b|c".
std::string names_in(const std::string& error) {
  auto names = std::regex_replace(lines_of(error).at(0), std::regex(".*: (there are|give) "), "");
  return std::regex_replace(names, std::regex(", | or "), "|");
}

TEST(Usage, HelpNamesTheChoicesThatThereAre) {
  const auto file = (fresh_folder() / "text").string();
  write_text(file, "a\n");
  const auto model = tiny_model().string();
  const std::vector<std::string> evaluate = {"evaluate", "--hypotheses", file, "-r", file};
  const std::vector<std::string> translate = {"translate", "-m", model, "-m", model};
  const std::vector<std::string> score = {"score", "-m",      model, "-s",        file, "-t",
                                          file,    "--align", "-",   "--reverse", model};
  const std::vector<std::pair<std::string, std::vector<std::string>>> choices = {
      {"--metrics", evaluate}, {"--tokenize", evaluate},       {"--smooth-method", evaluate},
      {"--format", evaluate},  {"--ensemble-mean", translate}, {"--symmetrise", score},
  };
  for (const auto& [option, wanted] : choices) {
    auto arguments = wanted;
    arguments.insert(arguments.end(), {option, "nosuch"});
    const auto finished = run(arguments, "a\n");
    EXPECT_EQ(finished.code, 2) << option;
    const auto entry = option + " " + names_in(finished.err);
    EXPECT_THAT(run({wanted[0], "--help"}).out,
                AnyOf(HasSubstr(entry + " "), HasSubstr(entry + "\n")));
  }
}

TEST(Usage, AMisspeltOptionHasASuggestion) {
  const auto finished = run({"translate", "-m", "x", "--beem-size", "3"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("error: "), HasSubstr("`--beam-size`"),
                                  HasSubstr("regard translate --help")));
}

TEST(Usage, WhatResemblesNothingIsNamed) {
  const auto finished = run({"config", "print", "--qqqqqqqq"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("--qqqqqqqq"), HasSubstr("regard config print --help")));
}

TEST(Usage, NoCommandAtAllSaysThatOneIsWanted) {
  const auto finished = run({});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("error: "), HasSubstr("there are train, translate")));
}

TEST(Usage, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_EQ(run({"train", "--help"}).code, 0);
  const auto version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(lines_of(version.out).size(), 1u);
}

TEST(Usage, HelpOfWhatIsNoCommandSaysSo) {
  const auto finished = run({"trian", "--help"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("did you mean `train`?"));
  EXPECT_THAT(run({"config", "prnt", "--help"}).err, HasSubstr("did you mean `print`?"));
}

TEST(Usage, WhatNeedsNoTorchIsAnsweredWithoutItAndTheRestSaysWhatIsMissing) {
  namespace fs = std::filesystem;
  const auto folder = fs::temp_directory_path() / ("regard_alone_" + std::to_string(getpid()));
  fs::create_directory(folder);
  fs::copy_file(fs::path(REGARD_BINARY_DIR) / "regard", folder / "regard");
  const auto alone = [&](const std::string& words) {
    const auto command =
        (folder / "regard").string() + " " + words + " >" + (folder / "said").string() + " 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  EXPECT_EQ(alone("--help"), 0);
  EXPECT_EQ(alone("translate --help"), 0);
  EXPECT_EQ(alone("translaet"), 2);
  EXPECT_EQ(alone("info runs/x"), 6);
  EXPECT_THAT(read_text(folder / "said"), HasSubstr("regard-torch"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace regard
