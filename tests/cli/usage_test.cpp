// Errors of the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/command_line.h"
#include "tests/cli/all_commands.h"
#include "tests/cli/run.h"

namespace regard::usage_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Usage, MisspeltCommandHasASuggestion) {
  const auto finished = run({"trian", "-c", "x.yaml"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err,
              AllOf(StartsWith("error: "), HasSubstr("`train`"), HasSubstr("regard --help")));
}

// Returns the choices of a message such as "expected a, b, c" or "give a, b or c" as "a|b|c".
std::string names_in(const std::string& error) {
  auto names =
      std::regex_replace(lines_of(error).at(0), std::regex(".*(expected (one of )?|give )"), "");
  return std::regex_replace(names, std::regex(", | or "), "|");
}

TEST(Usage, HelpNamesTheChoices) {
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
  for (const auto& [option, words] : choices) {
    const auto finished = run(words + Words{option, "nosuch"}, "a\n");
    EXPECT_EQ(finished.code, 2) << option;
    const auto entry = option + " " + names_in(finished.err);
    EXPECT_THAT(run({words[0], "--help"}).out,
                AnyOf(HasSubstr(entry + " "), HasSubstr(entry + "\n")));
  }
}

// So a plan of `regard pipeline` with a wrong name fails before its first step.
TEST(Usage, TheParserChecksEveryListOfNames) {
  int checked = 0;
  for (const auto& command : all_commands(CommandLine().outline())) {
    for (const auto& option : command.options) {
      const auto& name = option.names.back();
      if (option.kind != ValueKind::choice || name == "--device") continue;  // also cuda:N
      const auto path = command.command_path() + " " + name + "=nosuch";
      const auto parts = split(path, ' ');
      const Words words(parts.begin(), parts.end());
      EXPECT_THAT(CommandLine().find_fault(words).value_or(""),
                  HasSubstr(name + ": found `nosuch`, expected one of " + option.choices[0] + ", "))
          << command.name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 25);
}

TEST(Usage, MisspeltOptionHasASuggestion) {
  const auto finished = run({"translate", "-m", "x", "--beem-size", "3"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("error: "), HasSubstr("`--beam-size`"),
                                  HasSubstr("regard translate --help")));
}

// Returns the error message for a wrong command line, which must not read or write anything.
std::string error_of(const std::vector<std::string>& arguments) {
  const auto finished = run(arguments);
  EXPECT_EQ(finished.code, 2) << finished.err;
  EXPECT_EQ(finished.out, "");
  return lines_of(finished.err).empty() ? "" : lines_of(finished.err)[0];
}

TEST(Usage, KnowsNamesOfOtherPrograms) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> meant = {
      {{"eval"}, "`evaluate`"},
      {{"test"}, "`evaluate`"},
      {{"decode"}, "`translate`"},
      {{"backtranslate"}, "`synthesize`"},
      {{"Train"}, "`train`"},
      {{"init"}, "`config init`"},
      {{"config", "conv"}, "`convert`"},
      {{"translate", "-m", "x", "--beam", "3"}, "`--beam-size`"},
      {{"translate", "-m", "x", "--nbest", "3"}, "`--n-best`"},
      {{"translate", "-m", "x", "-b", "3"}, "`--beam-size`"},
      {{"translate", "-m", "x", "--lenpen", "1"}, "`--beam-alpha`"},
      {{"translate", "-m", "x", "--beam_size", "3"}, "`--beam-size`"},
      {{"translate", "-m", "x", "--src", "in.en"}, "`--input`"},
      {{"translate", "-m", "x", "--alignment", "f"}, "`--alignments`"},
      {{"translate", "-m", "x", "--gpu", "0"}, "`--device`"},
      {{"evaluate", "--hyp", "f", "-r", "g"}, "`--hypotheses`"},
      {{"evaluate", "--hypotheses", "f", "--references", "g"}, "`--ref`"},
      {{"score", "-m", "x", "-s", "f", "--tgt", "g"}, "`--trg`"},
  };
  for (const auto& [arguments, word] : meant) {
    EXPECT_THAT(error_of(arguments), HasSubstr("; did you mean " + word + "?"));
  }
}

TEST(Usage, SaysWhatTakesThePlaceOfAnOptionOfOthers) {
  const Words train = {"train", "-c", "x.yaml"};
  EXPECT_THAT(error_of(train + Words{"--resume"}), HasSubstr("a run resumes by itself"));
  EXPECT_THAT(error_of(train + Words{"--arch", "transformer"}), HasSubstr("model.encoder.kind"));
  EXPECT_THAT(error_of(train + Words{"--dropout=0.3"}), HasSubstr("model.dropout.embeddings=P"));
  EXPECT_THAT(error_of({"translate", "-m", "x", "--remove-bpe"}), HasSubstr("words already"));
}

TEST(Usage, TextBehindAModelIsNotAModel) {
  const auto finished = run({"translate", "-m", tiny_model().string(), "hello world"});
  EXPECT_EQ(finished.code, 5);
  EXPECT_THAT(finished.err, HasSubstr("echo 'hello world' | regard"));
}

TEST(Usage, ReportsLongOptionsWithOneDash) {
  // CLI11 would read `-src FILE` as `-s rc FILE` and `-output` as `-o utput`.
  EXPECT_THAT(error_of({"translate", "-model", "x", "-src", "f"}), HasSubstr("`--model`?"));
  EXPECT_THAT(error_of({"translate", "-m", "x", "-output=f"}), HasSubstr("`--output`?"));
  EXPECT_THAT(error_of({"evaluate", "-src", "f"}), HasSubstr("`--src`?"));
  EXPECT_THAT(error_of({"translate", "-m", "x", "-beam_size", "5"}), HasSubstr("`--beam-size`?"));
}

TEST(Usage, SuggestsKeyValueForAnOption) {
  const auto meant = [](const Words& more) {
    return error_of(Words{"train", "-c", "x.yaml"} + more);
  };
  EXPECT_THAT(meant({"--epochs", "3"}), HasSubstr("did you mean `training.epochs=3`?"));
  EXPECT_THAT(meant({"--training.epochs=3"}), HasSubstr("did you mean `training.epochs=3`?"));
  EXPECT_THAT(meant({"--lr=0.1"}), HasSubstr("did you mean `training.learning_rate=0.1`?"));
  EXPECT_THAT(meant({"--seed", "7"}), HasSubstr("did you mean `training.random_seed=7`?"));
  EXPECT_THAT(meant({"--save-dir", "d"}), HasSubstr("did you mean `training.model_dir=d`?"));
  EXPECT_THAT(meant({"--fersh"}), HasSubstr("did you mean `--fresh`?"));
}

TEST(Usage, SuggestsTheOptionForAWord) {
  const auto folder = fresh_folder();
  const auto text = (folder / "in.en").string(), config = (folder / "x.yaml").string();
  write_text(text, "a\n");
  write_text(config, "name: x\n");
  const auto model = tiny_model().string();
  const auto meant = [](const std::string& words) { return "did you mean `" + words + "`?"; };
  EXPECT_THAT(error_of({"train", config}), HasSubstr(meant("regard train -c " + config)));
  EXPECT_THAT(error_of({"train", model}),
              HasSubstr(meant("regard train -c " + model + "/config.yaml")));
  EXPECT_THAT(error_of({config}), HasSubstr(meant("train -c " + config)));
  EXPECT_THAT(error_of({"config", config}), HasSubstr(meant("print -c " + config)));
  EXPECT_THAT(error_of({"config", "print", config}),
              HasSubstr("pass one configuration file with -c"));
  EXPECT_THAT(error_of({"translate", "-m", model, text}),
              HasSubstr(meant("-m " + model + " -i " + text)));
  EXPECT_THAT(error_of({"evaluate", "-m", model, text, text}),
              HasSubstr(meant("-m " + model + " -s " + text + " -r " + text)));
  EXPECT_THAT(error_of({"score", "-m", model, text, text}),
              HasSubstr(meant("-m " + model + " -s " + text + " -t " + text)));
  EXPECT_THAT(error_of({"translate", "-m", model + "/best/model.safetensors"}),
              HasSubstr(meant("-m " + model + "/best")));
  EXPECT_THAT(error_of({"translate", text}), HasSubstr(meant("-i " + text)));
  EXPECT_THAT(error_of({"translate", model}), HasSubstr(meant("-m " + model)));
  EXPECT_THAT(error_of({"info", "-m", model}), HasSubstr("`regard info MODEL`"));
  EXPECT_THAT(error_of({"config", "convert", "-c", config}),
              HasSubstr("`regard config convert FILE`"));
}

TEST(Usage, SuggestedCommandsCanBePasted) {
  const auto config = (fresh_folder() / "a b.yaml").string();
  write_text(config, "name: x\n");
  EXPECT_THAT(error_of({"train", config}), HasSubstr("`regard train -c '" + config + "'`"));
  EXPECT_THAT(error_of({config}), HasSubstr("`train -c '" + config + "'`"));
  EXPECT_THAT(error_of({"train", "-c", config, "--save-dir", "a b"}),
              HasSubstr("`'training.model_dir=a b'`"));
}

TEST(Usage, SuggestsThePathOfARun) {
  const auto folder = fresh_folder();
  std::filesystem::create_directory(folder / "runs");
  std::filesystem::create_symlink(tiny_model(), folder / "runs" / "mine");
  const auto command = "cd '" + folder.string() +
                       "' && '" REGARD_BINARY_DIR "/regard' translate -m mine 2>said </dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
  EXPECT_THAT(read_text(folder / "said"), HasSubstr("did you mean `runs/mine`?"));
}

TEST(Usage, KnowsAttentionsByTheirAuthors) {
  for (const auto& [author, kind] : {std::pair{"bahdanau", "additive"}, {"luong", "general"}}) {
    EXPECT_THAT(error_of({"config", "print", std::string("model.attention.kind=") + author}),
                HasSubstr("did you mean `" + std::string(kind) + "`?"));
  }
}

TEST(Usage, HelpIsACommand) {
  for (const Words& words : {Words{}, {"train"}, {"config"}, {"config", "print"}}) {
    const auto finished = run(Words{"help"} + words);
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.out, run(words + Words{"--help"}).out);
  }
  EXPECT_THAT(error_of({"help", "trian"}), HasSubstr("did you mean `train`?"));
}

TEST(Usage, MetricsMayHaveSpacesAndAnyCase) {
  const auto file = (fresh_folder() / "text").string();
  write_text(file, "the cat sees the dog .\n");
  const auto with = [&](const Words& metrics) {
    const auto finished =
        run(Words{"evaluate", "--hypotheses", file, "-r", file, "--metrics"} + metrics);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto expected = with({"bleu,chrf++,ter"});
  EXPECT_THAT(expected, AllOf(HasSubstr("BLEU = "), HasSubstr("TER = ")));
  EXPECT_EQ(with({"bleu", "chrf++", "ter"}), expected);
  EXPECT_EQ(with({"BLEU", "chrF++,TER"}), expected);
  EXPECT_EQ(with({"BLEU", "chrF2++", "TER"}), expected);  // as they are printed
  EXPECT_EQ(with({"bleu, chrf++, ter"}), expected);
  EXPECT_EQ(with({"bleu chrf++  ter"}), expected);
  EXPECT_THAT(error_of({"evaluate", "--hypotheses", file, "-r", file, "--metrics", "bleu, blue"}),
              HasSubstr("--metrics: found `blue`, expected one of bleu, chrf"));
}

TEST(Usage, UnknownOptionIsNamed) {
  const auto finished = run({"config", "print", "--qqqqqqqq"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("--qqqqqqqq"), HasSubstr("regard config print --help")));
}

TEST(Usage, MissingCommandIsReported) {
  const auto finished = run({});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("error: "),
                                  HasSubstr("commands: train, prepare, features, translate")));
}

TEST(Usage, HelpAndVersionSucceed) {
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_EQ(run({"train", "--help"}).code, 0);
  EXPECT_EQ(run({"-V"}).code, 0);
}

TEST(Usage, VersionNamesLibTorchAndTheKernels) {
  const auto version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, version_report() + "\n");
  const auto lines = lines_of(version.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::MatchesRegex("regard [0-9.]+"));
  EXPECT_THAT(lines[1], testing::MatchesRegex("LibTorch [0-9.]+, built with(out)? CUDA.*"));
  EXPECT_THAT(lines[2], testing::MatchesRegex("kernels for .+"));
  const auto manifest = Json::parse(read_text(tiny_model() / "manifest.json"));
  EXPECT_THAT(lines[1], StartsWith("LibTorch " + manifest.at("libtorch").get<std::string>() + ","));
}

TEST(Usage, HelpOfAnUnknownCommandIsAnError) {
  const auto finished = run({"trian", "--help"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("did you mean `train`?"));
  EXPECT_THAT(run({"config", "prnt", "--help"}).err, HasSubstr("did you mean `print`?"));
}

TEST(Usage, WorksWithoutRegardTorchWherePossible) {
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

// Rejects signs, overflow and text that is not a number.
TEST(Usage, NamesInvalidNumbers) {
  const std::vector<std::vector<std::string>> options = {
      {"evaluate", "-s", "x", "-r", "x", "--hypotheses", "x", "--by-length"},
      {"evaluate", "-s", "x", "-r", "x", "--hypotheses", "x", "--resamples"},
      {"evaluate", "-s", "x", "-r", "x", "--hypotheses", "x", "--trials"},
      {"evaluate", "-s", "x", "-r", "x", "--hypotheses", "x", "--resampling-seed"},
      {"evaluate", "-s", "x", "-r", "x", "--hypotheses", "x", "--chrf-word-order"},
      {"evaluate", "-s", "x", "-r", "x", "--hypotheses", "x", "--smooth-value"},
      {"evaluate", "-m", "x", "-s", "x", "-r", "x", "--ensemble-weights"},
      {"translate", "-m", "x", "--ensemble-weights"},
      {"translate", "-m", "x", "--n-best"},
      {"translate", "-m", "x", "--split-length"},
      {"translate", "-m", "x", "--beam-size"},
      {"translate", "-m", "x", "--beam-alpha"},
      {"translate", "-m", "x", "--max-output-ratio"},
      {"translate", "-m", "x", "--max-output-length"},
      {"translate", "-m", "x", "--threads"},
      {"score", "-m", "x", "-s", "x", "-t", "x", "--batch-size"},
      {"score", "-m", "x", "-s", "x", "-t", "x", "--ensemble-weights"},
      {"average", "x", "-o", "y", "--last"},
      {"average", "x", "-o", "y", "--best"},
      {"report", "x", "--sentences"},
      {"config", "init", "x", "y", "--split"},
      {"train", "-c", "x", "--threads"},
      {"prepare", "-c", "x", "-o", "y", "--threads"}};
  for (const auto& option : options) {
    for (const std::string value :
         {"-5", "99999999999999999999", "ten", "", "nan", "inf", "0x10", "5;6", "1e400"}) {
      SCOPED_TRACE(option.front() + " " + option.back() + " '" + value + "'");
      if (option.back() == "--ensemble-weights" || option.back() == "--max-output-ratio") {
        if (value.starts_with("9999")) continue;  // a number
      }
      auto words = option;
      words.back() += "=" + value;
      EXPECT_THAT(CommandLine().find_fault(words).value_or(""), HasSubstr(option.back()));
    }
  }
}

// The message names the first wrong element of a list.
TEST(Usage, NamesTheInvalidNumberInAList) {
  for (const std::string list : {"10,-5", "-5,10", "10,18446744073709551616", "10,20x"}) {
    const auto finished =
        run({"evaluate", "--hypotheses", "x", "-s", "x", "-r", "x", "--by-length=" + list});
    EXPECT_EQ(finished.code, 2) << list;
    EXPECT_THAT(finished.err, HasSubstr("--by-length: found `")) << list;
  }
  const auto text = (fresh_folder() / "text").string();
  write_text(text, "a\n");
  const auto zeros =
      run({"evaluate", "--hypotheses", text, "-s", text, "-r", text, "--by-length=0010,10"});
  EXPECT_EQ(zeros.code, 2);
  EXPECT_THAT(zeros.err, HasSubstr("found 10 after 10")) << "decimal, not octal";
}

}  // namespace
}  // namespace regard::usage_test
