// Texts in columns of files: FILE#COLUMN in the commands, and config init with one file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/reader.h"
#include "tests/cli/train.h"
#include "tests/data/compressed.h"

namespace regard::columns_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Writes two parallel texts into one file of the format that its name says.
void write_pairs(const std::filesystem::path& path, const std::string& source,
                 const std::string& target) {
  const auto sources = lines_of(source), targets = lines_of(target);
  const auto name = path.filename().string();
  std::string text;
  if (name.ends_with(".csv")) text = "fr,n,en\r\n";
  if (name.ends_with(".tmx")) text = "<tmx version=\"1.4\"><header/><body>\n";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto &en = sources[i], &fr = targets.at(i);
    if (name.ends_with(".csv")) {
      text += fmt::format("\"{}\",{},{}\r\n", fr, i, en);
    } else if (name.ends_with(".jsonl")) {
      text += fmt::format(
          "{{\"id\": \"x{}\", \"translation\": {{\"en\": \"{}\", \"fr\": \"{}\"}}}}\n", i, en, fr);
    } else if (name.ends_with(".tmx")) {
      text += fmt::format(
          "<tu><tuv xml:lang=\"en\"><seg>{}</seg></tuv><tuv "
          "xml:lang=\"fr\"><seg>{}</seg></tuv></tu>\n",
          en, fr);
    } else {
      text += fmt::format("{}\t{}\tCC-BY 2.0 (France) Attribution: tatoeba.org #{}\n", en, fr, i);
    }
  }
  if (name.ends_with(".tmx")) text += "</body></tmx>\n";
  write_text(path, name.ends_with(".xz") ? compressed(text, "xz") : text);
}

class Columns : public Train {
 protected:
  // Writes the training pair as a file of this name.
  std::string with_pairs(const std::string& name) const {
    write_pairs(path(name), read_text(path("train.en")), read_text(path("train.fr")));
    return path(name);
  }
  Finished init(const Words& more) const {
    return run(Words{"config", "init", "-o", path("new.yaml"), "--yes"} + more);
  }
};

TEST_F(Columns, ConfigInitFindsThePairInOneFile) {
  const std::map<std::string, std::pair<std::string, std::string>> columns = {
      {"fra.txt", {"1", "2"}},
      {"pairs.csv", {"fr", "en"}},
      {"corpus.jsonl", {"translation.en", "translation.fr"}},
      {"memory.tmx", {"en", "fr"}},
      {"fra.txt.xz", {"1", "2"}}};
  for (const auto& [name, pair] : columns) {
    const auto file = with_pairs(name);
    std::filesystem::remove(path("new.yaml"));
    const auto finished = init({file});
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err, AllOf(HasSubstr(file + "#" + pair.first + ": the source, as in `"),
                                    HasSubstr(file + "#" + pair.second + ": the target, as in `")));
    const auto options = read_options(path("new.yaml"));
    EXPECT_EQ(options.data.train.at(0).src, file + "#" + pair.first);
    EXPECT_EQ(options.data.train.at(0).trg, file + "#" + pair.second);
    const auto dry = run({"train", "-c", path("new.yaml"), "--dry-run"});
    EXPECT_EQ(dry.code, 0) << dry.err;
  }
}

TEST_F(Columns, ConfigInitSplitsAPairOfColumnsIntoFilesNamedByLanguage) {
  const auto finished = init({with_pairs("corpus.jsonl"), "--split", "20"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto options = read_options(path("new.yaml"));
  EXPECT_EQ(options.data.train.at(0).src, path("new.train.en"));
  EXPECT_EQ(options.data.dev.trg, path("new.dev.fr"));
  EXPECT_EQ(lines_of(read_text(path("new.dev.fr"))).size(), 20);
}

TEST_F(Columns, ConfigInitFindsAValidationFileWithTheSameColumns) {
  std::filesystem::remove(path("dev.en"));
  write_pairs(path("dev.jsonl"), "a b\n", "c d\n");
  const auto finished = init({with_pairs("train.jsonl")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_options(path("new.yaml")).data.dev.src, path("dev.jsonl") + "#translation.en");
  std::filesystem::remove(path("new.yaml"));
  write_text(path("dev.txt"), "no columns\n");
  const auto plain = init({with_pairs("fra.txt")});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(read_options(path("new.yaml")).data.dev.src, "");
}

TEST_F(Columns, ConfigInitTakesAValidationFileOfBothSides) {
  write_pairs(path("held_out.tmx"), "a b\n", "c d\n");
  const auto finished = init({path("train.en"), path("train.fr"), "--dev", path("held_out.tmx")});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto dev = read_options(path("new.yaml")).data.dev;
  EXPECT_EQ(dev.src, path("held_out.tmx#en"));
  EXPECT_EQ(dev.trg, path("held_out.tmx#fr"));
}

TEST_F(Columns, ConfigInitTellsOfAFirstLineThatMayBeAHeader) {
  const auto file = path("spelling.tsv");
  write_text(file, "old\tmodern\ntoraj\ttorej\npredragi\tpredragi\nbratje\tbratje\n");
  const auto note = HasSubstr(file +
                              ": line 1 (`old`, `modern`) is taken as a pair; if it is a "
                              "header, name the columns: regard config init '" +
                              file + "#old' '" + file + "#modern'");
  EXPECT_THAT(init({file}).err, note);
  std::filesystem::remove(path("new.yaml"));
  const auto named = init({file + "#old", file + "#modern"});
  EXPECT_THAT(named.err, AllOf(Not(HasSubstr("line 1")), HasSubstr("3 lines, 1.0 words each")));
  std::filesystem::remove(path("new.yaml"));
  write_text(file, read_text(file) + "stari\tmodern\n");
  EXPECT_THAT(init({file}).err, Not(HasSubstr("line 1"))) << "`modern` occurs again";
  std::filesystem::remove(path("new.yaml"));
  write_text(file, "this is a sentence\tc'est une phrase\nno\tnon\n");
  EXPECT_THAT(init({file}).err, Not(HasSubstr("line 1")));
}

TEST_F(Columns, ConfigInitReadsTwoColumnsAsOneSource) {
  const auto file = path("hun.tsv");
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("szó{0}\tszó{0}k\tN;PL;{0}\n", i);
  write_text(file, text);
  ASSERT_EQ(init({file + "#3+1", file + "#2"}).code, 0);
  EXPECT_EQ(read_options(path("new.yaml")).data.train.at(0).src, file + "#3+1");
  const auto dry = run({"train", "-c", path("new.yaml"), "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
}

TEST_F(Columns, ConfigInitNoticesAValidationFileThatIsTheTrainingFile) {
  const auto file = path("spelling.tsv");
  write_text(file, "old\tmodern\ntoraj\ttorej\npredragi\tpredragi\n");
  const auto warning = HasSubstr(file + "#old: used for training and validation");
  EXPECT_THAT(init({file + "#old", file + "#modern", "--dev", file}).err, warning);
  write_text(path("other.tsv"), read_text(file));
  std::filesystem::remove(path("new.yaml"));
  EXPECT_THAT(init({file + "#old", file + "#modern", "--dev", path("other.tsv")}).err,
              Not(warning));
}

TEST_F(Columns, ConfigInitNoticesColumnsThatAreNoPair) {
  const auto file = with_pairs("fra.txt");
  EXPECT_THAT(init({file + "#1", file + "#3"}).err,
              HasSubstr("fra.txt#3: the lines name authors or licences, as in `CC-BY 2.0"));
  std::filesystem::remove(path("new.yaml"));
  EXPECT_THAT(init({file + "#1", path(".") + "/fra.txt#1"}).err,
              HasSubstr("both sides of the training pair are this file"));
  std::filesystem::remove(path("new.yaml"));
  EXPECT_THAT(init({file + "#1", file + "#2"}).err, Not(HasSubstr("both sides")));
  std::filesystem::remove(path("new.yaml"));
  EXPECT_THAT(init({with_pairs("pairs.csv"), file + "#2"}).err,
              HasSubstr("pairs.csv: read line by line; name a column"));
  std::filesystem::remove(path("new.yaml"));
  write_text(path("wide.tsv"), "a\tb\tc\nd\te\tf\n");
  const auto wide = init({path("wide.tsv")});
  EXPECT_EQ(wide.code, 3);
  EXPECT_THAT(wide.err, HasSubstr("regard config init '" + path("wide.tsv#1") + "'"));
  const auto plain = init({path("train.en")});
  EXPECT_EQ(plain.code, 2);
  EXPECT_THAT(plain.err, HasSubstr("found a text without columns and no second file"));
  EXPECT_EQ(init({path("book.parquet")}).code, 3);
}

TEST_F(Columns, ATrainingFromColumnsIsThatFromFiles) {
  ASSERT_EQ(train({"training.max_steps=5"}).code, 0);
  const auto plain = weights();
  for (const std::string name : {"pairs.csv", "memory.tmx"}) {
    const auto file = with_pairs(name);
    const auto finished = train({"training.max_steps=5", "data.train.0.src=" + file + "#en",
                                 "data.train.0.trg=" + file + "#fr", "--fresh"});
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(weights(), plain);
    const auto data = parse_json(read_text(folder_ / "run" / "manifest.json")).at("data");
    EXPECT_EQ(data.at(0).at("path"), file + "#en");
    EXPECT_NE(data.at(0).at("sha256"), data.at(1).at("sha256"));
  }
}

TEST_F(Columns, AResumedRunNoticesOtherColumnsAndOtherText) {
  const auto file = with_pairs("pairs.csv");
  const auto train_on = [&](const std::string& target, const std::string& steps) {
    const auto finished =
        train({"data.train.0.src=" + file + "#en", "data.train.0.trg=" + file + target,
               "training.max_steps=" + steps});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.err;
  };
  train_on("#fr", "2");
  EXPECT_THAT(train_on("#fr", "3"), Not(HasSubstr("has changed")));
  EXPECT_THAT(train_on("#en", "4"),
              HasSubstr("changed since this run last trained: data.train.0.trg"));
  write_text(file, read_text(file) + "la,0,the\n");
  EXPECT_THAT(train_on("#en", "5"),
              HasSubstr(file + "#en: the text has changed since the last session"));
}

TEST_F(Columns, EveryCommandReadsThem) {
  write_pairs(path("dev.jsonl"), read_text(path("dev.en")), read_text(path("dev.fr")));
  const auto en = path("dev.jsonl#translation.en"), fr = path("dev.jsonl#translation.fr");
  const auto model = tiny_model().string();
  const auto translated = run({"translate", "-m", model, "-i", en, "--threads", "1"});
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(translated.out, tiny_translation());
  const auto same = [&](const Words& words, const Words& columns, const Words& files) {
    const auto from_columns = run(words + columns), from_files = run(words + files);
    EXPECT_EQ(from_columns.code, 0) << from_columns.err;
    EXPECT_EQ(from_columns.out, from_files.out);
    EXPECT_NE(from_columns.out, "");
  };
  same({"score", "-m", model, "--threads", "1"}, {"-s", en, "-t", fr},
       {"-s", path("dev.en"), "-t", path("dev.fr")});
  same({"evaluate"}, {"-r", fr, "--hypotheses", en},
       {"-r", path("dev.fr"), "--hypotheses", path("dev.en")});
  const auto prepared = run({"prepare", "-c", config_.string(), "-o", path("prepared"),
                             "data.train.0.src=" + en, "data.train.0.trg=" + fr});
  EXPECT_EQ(prepared.code, 0) << prepared.err;
  const auto made = run({"synthesize", "-m", model, "-i", en, "-o", path("made")});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_NE(read_text(path("made.trg")), "");
}

TEST_F(Columns, AFileOfColumnsIsNotOverwritten) {
  const auto file = with_pairs("memory.tmx");
  const auto before = read_text(file);
  const auto finished =
      run({"translate", "-m", tiny_model().string(), "-i", file + "#en", "-o", file});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("is an input and would be overwritten"));
  EXPECT_EQ(read_text(file), before);
}

TEST_F(Columns, AColumnThatIsNotThereIsAnErrorOfTheInput) {
  const auto file = with_pairs("pairs.csv");
  const auto finished =
      train({"data.train.0.src=" + file + "#EN", "data.train.0.trg=" + file + "#fr"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("pairs.csv:1: found no `EN`"), HasSubstr("did you mean `en`?")));
  write_text(path("bad.jsonl"), "{\"en\": \"a cat\"}\n{\"en\": 7}\n");
  const auto translated =
      run({"translate", "-m", tiny_model().string(), "-i", path("bad.jsonl#en")});
  EXPECT_EQ(translated.code, 3);
  EXPECT_THAT(translated.err, HasSubstr("bad.jsonl:2: found a number as `en`"));
  EXPECT_EQ(train({"data.train.0.src=" + path("none.tsv#en")}).code, 3);
}

}  // namespace
}  // namespace regard::columns_test
