// regard config init and convert: files in, a configuration that trains out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "config/reader.h"
#include "tests/cli/run.h"

namespace regard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// regard at a terminal of its own, where somebody types: what stands on the screen.
std::string at_terminal(const std::filesystem::path& folder, std::vector<std::string> words,
                        const std::string& typed) {
  const auto program = (std::filesystem::path(REGARD_BINARY_DIR) / "regard").string();
  int terminal = -1;
  const auto pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    if (chdir(folder.c_str()) != 0) _exit(127);
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  EXPECT_EQ(write(terminal, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  std::string screen;
  char buffer[4096];
  for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    screen.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 0) << screen;
  return screen;
}

class ConfigInit : public testing::Test {
 protected:
  ConfigInit() {
    const auto corpus = toy_corpus(300, 1);
    write_text(path("train.en"), corpus.source);
    write_text(path("train.fr"), corpus.target);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Finished init(std::vector<std::string> more) const {
    more.insert(more.begin(), {"config", "init", path("train.en"), path("train.fr")});
    return run(more);
  }

  std::filesystem::path folder_ = fresh_folder();
};

TEST_F(ConfigInit, WithoutATerminalItGuessesAndWhatItWritesTrains) {
  const auto finished = init({"-o", path("mine.yaml"), "--split", "20"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("300 lines"), HasSubstr("(source, en)")));
  const auto options = read_options(path("mine.yaml"));
  EXPECT_EQ(options.name, "mine");
  EXPECT_EQ(options.data.train[0].src, path("mine.train.en"));
  EXPECT_EQ(options.data.dev.trg, path("mine.dev.fr"));
  const auto trained = run({"train", "-c", path("mine.yaml"), "--dry-run"});
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST_F(ConfigInit, FilesOfOneEndingAreSplitIntoFilesOfTwo) {
  for (const auto* ending : {".txt", ""}) {
    const auto source = path("source") + ending, target = path("target") + ending;
    std::filesystem::copy_file(path("train.en"), source);
    std::filesystem::copy_file(path("train.fr"), target);
    const auto name = std::string("like") + ending;
    const auto finished =
        run({"config", "init", source, target, "-o", path(name + ".yaml"), "--split", "20"});
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto options = read_options(path(name + ".yaml"));
    EXPECT_EQ(options.data.train[0].src, path(name + ".train.src"));
    EXPECT_EQ(options.data.dev.trg, path(name + ".dev.trg"));
    EXPECT_THAT(read_text(path("train.en")),
                HasSubstr(lines_of(read_text(options.data.dev.src))[0]));
    EXPECT_THAT(read_text(path("train.fr")),
                HasSubstr(lines_of(read_text(options.data.dev.trg))[0]));
  }
}

TEST_F(ConfigInit, ASplitKeepsPairsTogetherAndApart) {
  ASSERT_EQ(init({"-o", path("mine.yaml"), "--split", "20"}).code, 0);
  const auto sources = lines_of(read_text(path("train.en")));
  const auto targets = lines_of(read_text(path("train.fr")));
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) pairs.emplace(sources[i], targets[i]);
  std::set<std::string> dev;
  std::size_t lines = 0;
  for (const std::string part : {"dev", "train"}) {
    const auto source = lines_of(read_text(path("mine." + part + ".en")));
    const auto target = lines_of(read_text(path("mine." + part + ".fr")));
    ASSERT_EQ(source.size(), target.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
      EXPECT_TRUE(pairs.contains({source[i], target[i]}));
      if (part == "dev") {
        dev.insert(source[i]);
      } else {
        EXPECT_FALSE(dev.contains(source[i])) << source[i];
      }
    }
    lines += source.size();
    EXPECT_EQ(source.size() == 20, part == "dev");
  }
  EXPECT_GT(lines, 200u);
  EXPECT_EQ(read_text(path("train.en")).size(), toy_corpus(300, 1).source.size());
}

TEST_F(ConfigInit, AValidationPairBesideTheTrainingPairIsTaken) {
  const auto dev = toy_corpus(10, 2);
  write_text(path("valid.en"), dev.source);
  write_text(path("valid.fr"), dev.target);
  const auto finished = init({});
  EXPECT_EQ(finished.code, 0);
  const auto options = parse_options(finished.out, "printed");
  EXPECT_EQ(options.name, "en-fr");
  EXPECT_EQ(options.data.dev.src, path("valid.en"));
  EXPECT_EQ(options.data.dev.trg, path("valid.fr"));
}

TEST_F(ConfigInit, AtATerminalItAsksAndReturnTakesTheGuess) {
  const auto screen =
      at_terminal(folder_, {"config", "init"}, "train.en\ntrain.fr\nmany\n30\ntoy\n\n");
  EXPECT_THAT(screen, AllOf(HasSubstr("source text: "), HasSubstr("found `many`"),
                            HasSubstr("what the model is called [en-fr]: "),
                            HasSubstr("where the configuration goes [toy.yaml]: ")));
  const auto options = read_options(path("toy.yaml"));
  EXPECT_EQ(options.name, "toy");
  EXPECT_EQ(options.data.train[0].src, "toy.train.en");
  EXPECT_EQ(lines_of(read_text(path("toy.dev.en"))).size(), 30u);
}

TEST_F(ConfigInit, WithYesItAsksNothing) {
  EXPECT_THAT(at_terminal(folder_, {"config", "init", "train.en", "train.fr", "--yes"}, ""),
              AllOf(HasSubstr("name: en-fr"), testing::Not(HasSubstr("[en-fr]"))));
}

TEST_F(ConfigInit, BadInputIsASentence) {
  EXPECT_THAT(run({"config", "init"}).err, HasSubstr("give the two text files"));
  write_text(path("short.fr"), "un\n");
  const auto uneven = run({"config", "init", path("train.en"), path("short.fr")});
  EXPECT_EQ(uneven.code, 3);
  EXPECT_THAT(uneven.err, AllOf(HasSubstr("300"), HasSubstr("short.fr")));
  EXPECT_EQ(run({"config", "init", path("none.en"), path("train.fr")}).code, 3);
  EXPECT_THAT(init({"--split", "300"}).err, HasSubstr("wanted less than the 300 pairs"));
  write_text(path("mine.yaml"), "mine\n");
  EXPECT_THAT(init({"-o", path("mine.yaml")}).err, HasSubstr("is there already"));
  EXPECT_EQ(read_text(path("mine.yaml")), "mine\n");
  write_text(path("en-fr.dev.en"), "mine\n");
  EXPECT_EQ(init({"-o", path("new.yaml"), "--name", "en-fr", "--split", "5"}).code, 2);
  EXPECT_EQ(read_text(path("en-fr.dev.en")), "mine\n");
}

TEST(ConfigConvert, WritesTheConfigurationAndSaysWhatIsLeft) {
  const auto folder = fresh_folder();
  const auto joey = (folder / "joey.yaml").string();
  write_text(joey,
             "name: j\nfp16: True\ndata: {train: t, dev: d, src: {lang: a}, trg: {lang: b}}\n"
             "training: {batch_size: 8, epochs: 2}\n"
             "model: {encoder: {type: recurrent}, decoder: {type: recurrent}}\n");
  const auto output = (folder / "mine.yaml").string();
  const auto finished = run({"config", "convert", joey, "-o", output});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err, StartsWith("warning: " + joey + ":2: fp16: True: "));
  EXPECT_THAT(read_text(output), HasSubstr("#   " + joey + ":2: fp16: True: "));
  EXPECT_EQ(run({"config", "print", "-c", output}).code, 0);
  EXPECT_EQ(run({"config", "convert", joey}).out, read_text(output));
  const auto again = run({"config", "convert", joey, "-o", output});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
  EXPECT_EQ(run({"config", "convert", (folder / "none.yaml").string()}).code, 2);
}

}  // namespace
}  // namespace regard
