// regard config init and convert.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sentencepiece_trainer.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "config/reader.h"
#include "tests/cli/run.h"

namespace regard::config_init_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Runs regard in a pseudo-terminal with typed input. Returns the text on the screen.
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

class ConfigInit : public CliTest {
 protected:
  ConfigInit() {
    const auto corpus = toy_corpus(300, 1);
    write_text(path("train.en"), corpus.source);
    write_text(path("train.fr"), corpus.target);
  }
  Finished init(const Words& more) const {
    return run(Words{"config", "init", path("train.en"), path("train.fr")} + more);
  }
};

TEST_F(ConfigInit, WithoutATerminalTheGuessedConfigurationTrains) {
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

TEST_F(ConfigInit, TheNextCommandCanBePasted) {
  const auto finished = init({"-o", path("a b.yaml")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("train with: regard train -c '" + path("a b.yaml") + "'\n"));
}

TEST_F(ConfigInit, ANameThatIsNotUtf8IsRefused) {
  std::filesystem::rename(path("train.en"), path("tr\xFF.en"));
  const auto finished = run({"config", "init", path("tr\xFF.en"), path("train.fr"), "--yes"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("this name is not UTF-8"));
}

TEST_F(ConfigInit, SplitNamesFilesByTheirSideIfExtensionsAreEqual) {
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

TEST_F(ConfigInit, SplitKeepsPairsAndSeparatesTheParts) {
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

TEST_F(ConfigInit, UsesTheValidationPairBesideTheTrainingPair) {
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

TEST_F(ConfigInit, AsksAtATerminal) {
  const auto screen =
      at_terminal(folder_, {"config", "init"}, "train.en\ntrain.fr\nmany\n30\ntoy\n\n");
  EXPECT_THAT(screen, AllOf(HasSubstr("source text: "), HasSubstr("found `many`"),
                            HasSubstr("name of the model [en-fr]: "),
                            HasSubstr("output file [toy.yaml]: ")));
  const auto options = read_options(path("toy.yaml"));
  EXPECT_EQ(options.name, "toy");
  EXPECT_EQ(options.data.train[0].src, "toy.train.en");
  EXPECT_EQ(lines_of(read_text(path("toy.dev.en"))).size(), 30u);
}

TEST_F(ConfigInit, AsksForTheColumnsOfAFileWithSeveralTexts) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("a{0}\tb{0}\tc{0}\n", i);
  write_text(path("wide.tsv"), text);
  const auto screen = at_terminal(folder_, {"config", "init", "wide.tsv"},
                                  "wide.tsv#4\nwide.tsv#3+1\nwide.tsv#2\n0\ntoy\n\n");
  EXPECT_THAT(screen, AllOf(HasSubstr("found 3 columns of text, expected two"),
                            HasSubstr("source, as FILE#COLUMN: "), HasSubstr("at least 4")));
  const auto options = read_options(path("toy.yaml"));
  EXPECT_EQ(options.data.train[0].src, "wide.tsv#3+1");
  EXPECT_EQ(options.data.train[0].trg, "wide.tsv#2");
}

TEST_F(ConfigInit, RepeatsTheQuestionAfterAWrongAnswer) {
  write_text(path("short.fr"), "un\n");
  write_text(path("old.yaml"), "mine\n");
  const auto screen = at_terminal(folder_, {"config", "init"},
                                  "\ntrian.en\n-\n.\ntrain.en\nshort.fr\nnone.fr\ntrain.fr\n"
                                  "300\n30\na/b\ntoy\nold.yaml\n\n");
  EXPECT_THAT(screen, AllOf(HasSubstr("found nothing"), HasSubstr("trian.en: "),
                            HasSubstr("instead of -"), HasSubstr("300 lines, but"),
                            HasSubstr("none.fr: "), HasSubstr("a whole number from 0 to 299")));
  EXPECT_THAT(screen, AllOf(HasSubstr("found `a/b`"), HasSubstr("old.yaml: file exists")));
  EXPECT_EQ(read_options(path("toy.yaml")).name, "toy");
  EXPECT_EQ(read_text(path("old.yaml")), "mine\n");
}

TEST_F(ConfigInit, RepeatsTheQuestionForTheValidationPair) {
  const auto dev = toy_corpus(10, 2);
  write_text(path("val.en"), dev.source);
  write_text(path("val.fr"), dev.target);
  const auto screen = at_terminal(folder_, {"config", "init", "train.en", "train.fr"},
                                  "vla.en\n\ntrain.fr\n\n\n\n");
  EXPECT_THAT(screen, AllOf(HasSubstr("validation source (`-` for none) [val.en]: "),
                            HasSubstr("vla.en: "), HasSubstr("train.fr has 300 lines")));
  EXPECT_EQ(read_options(path("en-fr.yaml")).data.dev.trg, "val.fr");
}

TEST_F(ConfigInit, RejectsAnInvalidNameBeforeWriting) {
  const auto finished = init({"--name", "a/b", "-o", path("mine.yaml"), "--split", "5"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("name: found `a/b`"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
}

TEST_F(ConfigInit, WarnsOfTheSameFileOnBothSides) {
  const auto finished = run({"config", "init", path("train.en"), path("train.en"), "--yes"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err,
              HasSubstr("warning: " + path("train.en") + ": both sides of the training pair are"));
  std::filesystem::create_symlink(path("train.en"), path("link.fr"));
  EXPECT_THAT(run({"config", "init", path("train.en"), path("link.fr"), "--yes"}).err,
              HasSubstr("both sides of the training pair are this file"));
  EXPECT_THAT(init({}).err, testing::Not(HasSubstr("both sides")));
  EXPECT_THAT(init({"--dev", path("train.en"), path("train.en")}).err,
              AllOf(HasSubstr("both sides of the validation pair are"),
                    HasSubstr("used for training and validation")));
}

TEST_F(ConfigInit, WarnsOfExchangedSidesOfTheValidationPair) {
  const auto warning = HasSubstr("the words are those of the other side of the training pair");
  const auto swapped = init({"--dev", path("train.fr"), path("train.en")});
  EXPECT_EQ(swapped.code, 0);
  EXPECT_THAT(swapped.err, warning);
  EXPECT_THAT(init({"--dev", path("train.en"), path("train.fr")}).err, testing::Not(warning));
  EXPECT_THAT(init({"--dev", path("train.en"), path("train.en")}).err, testing::Not(warning));
}

TEST_F(ConfigInit, FindsTheValidationPairByUsualNames) {
  namespace fs = std::filesystem;
  const auto dev = toy_corpus(10, 2);
  const std::vector<std::pair<std::string, std::string>> names = {
      {"europarl.train.", "europarl.dev."}, {"news-train-v2.", "news-valid-v2."},
      {"train.tok.", "val.tok."},           {"train/news.", "dev/news."},
      {"training.", "validation."},         {"corpus.", "dev."}};
  for (const auto& [train, expected] : names) {
    const auto folder = fresh_folder();
    for (const auto& name : {train, expected}) {
      fs::create_directories((folder / name).parent_path());
      const auto text = name == train ? toy_corpus(40, 1) : dev;
      write_text((folder / name).string() + "en", text.source);
      write_text((folder / name).string() + "fr", text.target);
    }
    const auto stem = (folder / train).string();
    const auto finished = run({"config", "init", stem + "en", stem + "fr", "--yes"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto options = parse_options(finished.out, "printed");
    EXPECT_EQ(options.data.dev.src, (folder / expected).string() + "en") << train;
    EXPECT_EQ(options.data.dev.trg, (folder / expected).string() + "fr") << train;
  }
}

TEST_F(ConfigInit, DoesNotUseATestSetForValidation) {
  const auto unseen = toy_corpus(10, 2);
  write_text(path("test.en"), unseen.source);
  write_text(path("test.fr"), unseen.target);
  EXPECT_EQ(parse_options(init({}).out, "printed").data.dev.src, "");
}

TEST_F(ConfigInit, NamesAnExistingDocument) {
  const auto text = init({}).out;
  const auto end = text.find("own_language_pair.md");
  ASSERT_NE(end, std::string::npos);
  const auto begin = text.rfind("# ", end) + 2;
  EXPECT_TRUE(std::filesystem::exists(text.substr(begin, end - begin) + "own_language_pair.md"));
}

TEST_F(ConfigInit, YesAsksNothing) {
  EXPECT_THAT(at_terminal(folder_, {"config", "init", "train.en", "train.fr", "--yes"}, ""),
              AllOf(HasSubstr("name: en-fr"), testing::Not(HasSubstr("[en-fr]"))));
}

TEST_F(ConfigInit, SplitLeavesOutNoPairIfEnoughSourcesOccurOnce) {
  std::string source, target;
  for (int i = 0; i < 60; ++i) {
    source += i % 2 == 0 ? "danke\n" : "satz " + std::to_string(i) + "\n";
    target += i == 1 ? "\n" : "x\n";
  }
  write_text(path("train.en"), source);
  write_text(path("train.fr"), target);
  const auto enough = init({"-o", path("mine.yaml"), "--split", "29"});
  ASSERT_EQ(enough.code, 0) << enough.err;
  EXPECT_EQ(lines_of(read_text(path("mine.train.en"))).size(), 31);
  EXPECT_THAT(read_text(path("mine.dev.en")), testing::Not(HasSubstr("danke")));
  EXPECT_THAT(read_text(path("mine.dev.en")), testing::Not(HasSubstr("satz 1\n")));
  EXPECT_THAT(enough.err, testing::Not(HasSubstr("left out")));
  const auto all = init({"-o", path("more.yaml"), "--split", "30"});
  EXPECT_THAT(all.err, HasSubstr("29 pairs left out"));
  EXPECT_THAT(init({"--name", "most", "--split", "31"}).err,
              HasSubstr("expected at most the 30 distinct source sentences"));
}

TEST_F(ConfigInit, TextWithoutSpacesIsMeasuredInTokensAndByChrf) {
  std::string chinese;
  for (int i = 0; i < 300; ++i) {
    chinese += i % 3 == 0 ? "我们在公园里散步。" : "一个男人在看书";
    chinese += std::to_string(i) + "\n";
  }
  write_text(path("train.fr"), chinese);
  const auto yaml = init({"--split", "20", "--name", "zh", "-o", path("zh.yaml")});
  ASSERT_EQ(yaml.code, 0) << yaml.err;
  const auto options = read_options(path("zh.yaml"));
  EXPECT_EQ(options.training.early_stopping_metric, Metric::chrf);
  EXPECT_EQ(run({"train", "-c", path("zh.yaml"), "--dry-run"}).code, 0);
}

TEST_F(ConfigInit, ReportsBadInput) {
  EXPECT_THAT(run({"config", "init"}).err, HasSubstr("give two text files"));
  write_text(path("short.fr"), "un\n");
  const auto uneven = run({"config", "init", path("train.en"), path("short.fr")});
  EXPECT_EQ(uneven.code, 3);
  EXPECT_THAT(uneven.err, AllOf(HasSubstr("300"), HasSubstr("short.fr")));
  EXPECT_EQ(run({"config", "init", path("none.en"), path("train.fr")}).code, 3);
  EXPECT_THAT(init({"--split", "300"}).err, HasSubstr("expected less than the 300 pairs"));
  write_text(path("mine.yaml"), "mine\n");
  EXPECT_THAT(init({"-o", path("mine.yaml")}).err, HasSubstr("file exists"));
  EXPECT_EQ(read_text(path("mine.yaml")), "mine\n");
  write_text(path("en-fr.dev.en"), "mine\n");
  EXPECT_EQ(init({"-o", path("new.yaml"), "--name", "en-fr", "--split", "5"}).code, 2);
  EXPECT_EQ(read_text(path("en-fr.dev.en")), "mine\n");
}

// Trained like in JoeyNMT's scripts/build_vocab.py: <unk> comes first.
void write_sentencepiece_model(const std::filesystem::path& path, const std::string& text) {
  auto corpus = path;
  write_text(corpus.replace_extension("txt"), text);
  auto prefix = path;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"input", corpus.string()},
       {"model_prefix", prefix.replace_extension().string()},
       {"vocab_size", "60"},
       {"hard_vocab_limit", "false"},
       {"unk_id", "0"},
       {"pad_id", "1"},
       {"bos_id", "2"},
       {"eos_id", "3"},
       {"minloglevel", "3"}});
  ASSERT_TRUE(status.ok()) << status.ToString();
}

TEST(ConfigConvert, TrainsWithASentencePieceModelOfJoeyNmt) {
  const auto folder = fresh_folder();
  const auto corpus = toy_corpus(300, 1);
  for (const auto* part : {"train", "dev"}) {
    write_text(folder / (part + std::string(".en")), corpus.source);
    write_text(folder / (part + std::string(".fr")), corpus.target);
  }
  write_sentencepiece_model(folder / "sp.model", corpus.source + corpus.target);
  const auto joey = (folder / "joey.yaml").string(), mine = (folder / "mine.yaml").string();
  const auto side = [&](const std::string& language) {
    return "{lang: " + language + ", level: bpe, tokenizer_type: sentencepiece, tokenizer_cfg: " +
           "{model_type: unigram, model_file: " + (folder / "sp.model").string() + "}}";
  };
  write_text(joey,
             "name: j\ndata: {train: " + (folder / "train").string() + ", dev: " +
                 (folder / "dev").string() + ", src: " + side("en") + ", trg: " + side("fr") +
                 "}\ntraining: {batch_size: 8, epochs: 1}\nmodel: {encoder: {type: recurrent,"
                 " embeddings: {embedding_dim: 8}, hidden_size: 8}, decoder: {type: recurrent,"
                 " embeddings: {embedding_dim: 8}, hidden_size: 8}}\n");
  const auto direct = run({"train", "-c", joey});
  EXPECT_EQ(direct.code, 2);
  EXPECT_EQ(lines_of(direct.err).size(), 1u) << direct.err;
  EXPECT_THAT(direct.err, HasSubstr("regard config convert " + joey));
  ASSERT_EQ(run({"config", "convert", joey, "-o", mine}).code, 0);
  EXPECT_EQ(read_options(mine).data.tokenizer.src_file, (folder / "sp.model").string());
  const auto trained = run({"train", "-c", mine, "--dry-run"});
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST(ConfigConvert, WarnsOfAMissingModel) {
  const auto folder = fresh_folder();
  const auto joey = (folder / "joey.yaml").string();
  write_text(joey,
             "data: {train: t, dev: d, src: {lang: a, tokenizer_cfg: {model_file: no.model}}, trg: "
             "{lang: b}}\ntraining: {epochs: 2}\nmodel: {encoder: {type: recurrent}, decoder: "
             "{type: recurrent}}\n");
  const auto finished = run({"config", "convert", joey});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("src_file: no.model\n"));
  EXPECT_THAT(finished.err, HasSubstr("data.tokenizer.src_file: no.model: no such file"));
}

TEST(ConfigConvert, WritesTheConfigurationWithNotes) {
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
  EXPECT_THAT(again.err, HasSubstr("file exists"));
  EXPECT_EQ(run({"config", "convert", (folder / "none.yaml").string()}).code, 2);
}

}  // namespace
}  // namespace regard::config_init_test
