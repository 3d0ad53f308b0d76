#include "config/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "config/docs.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/config/message.h"

namespace regard::reader_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string problem(const std::string& yaml) {
  return config_error([&] { parse_options(yaml, "f.yaml"); });
}

TEST(Reader, AListOfTextsIsASingleValue) {
  EXPECT_THAT(
      problem("training: {freeze: encoder.*}"),
      HasSubstr("training.freeze: found encoder.*, expected a list of texts, as in [a, b]"));
  EXPECT_THAT(problem("training: {freeze: [[a]]}"),
              HasSubstr("training.freeze: found a list in the list, expected a text"));
  const Options o =
      parse_options("training: {freeze: [encoder.*]}", "f.yaml", {"training.freeze=[a.*, \"b\"]"});
  EXPECT_EQ(o.training.freeze, (std::vector<std::string>{"a.*", "b"}));
  EXPECT_TRUE(parse_options("training: {freeze: []}", "f.yaml").training.freeze.empty());
}

TEST(Reader, AdoptsOnlyValuesThatWereNotSet) {
  SourceLocations set;
  Options o = parse_options("model: {encoder: {layers: 3}, dropout: {states: 0.4}}", "f.yaml",
                            {"model.decoder.layers=2"}, &set);
  Options from;
  from.model.encoder.layers = from.model.decoder.layers = 5;
  from.model.encoder.hidden_size = 77;
  from.model.dropout.states = 0.1;
  from.training.learning_rate = 0.7;
  EXPECT_THAT(adopt_unset(o, from, set, "model"),
              testing::ElementsAre("model.encoder.hidden_size"));
  EXPECT_EQ(o.model.encoder.hidden_size, 77);
  EXPECT_EQ(o.model.encoder.layers, 3);
  EXPECT_EQ(o.model.decoder.layers, 2);
  EXPECT_EQ(o.model.dropout.states, 0.4);
  EXPECT_EQ(o.training.learning_rate, Options().training.learning_rate);
}

TEST(Reader, ReadsEveryTypeOfValue) {
  const Options o = parse_options(R"(
name: first
data:
  train:
    - {src: a.en, trg: a.fr}
    - src: b.en
      trg: b.fr
      weight: 0.5
  tokenizer: {kind: unigram, joint: yes, user_symbols: [<2de>, "a,b"]}
training:
  max_steps: 2000
  learning_rate: 5e-4
)",
                                  "f.yaml");
  EXPECT_EQ(o.name, "first");
  ASSERT_EQ(o.data.train.size(), 2U);
  EXPECT_EQ(o.data.train[0].src, "a.en");
  EXPECT_EQ(o.data.train[0].weight, 1);
  EXPECT_EQ(o.data.train[1].trg, "b.fr");
  EXPECT_EQ(o.data.train[1].weight, 0.5);
  EXPECT_EQ(o.data.tokenizer.kind, TokenizerKind::unigram);
  EXPECT_TRUE(o.data.tokenizer.joint);
  EXPECT_EQ(o.data.tokenizer.user_symbols, (std::vector<std::string>{"<2de>", "a,b"}));
  EXPECT_EQ(o.training.max_steps, 2000);
  EXPECT_EQ(o.training.learning_rate, 5e-4);
}

TEST(Reader, EmptyFileHasAllDefaults) {
  for (const char* yaml :
       {"", "\n# a comment\n", "---\n", "~", "{}", "training:\ndata:\n  train:\n"}) {
    const Options o = parse_options(yaml, "f.yaml");
    EXPECT_EQ(o.training.learning_rate, TrainingOptions{}.learning_rate) << yaml;
    EXPECT_TRUE(o.data.train.empty()) << yaml;
  }
}

TEST(Reader, AcceptsByteOrderMarkAndWindowsLineEnds) {
  EXPECT_EQ(parse_options("\xEF\xBB\xBFname: x\r\nthreads: 2\r\n", "f.yaml").threads, 2);
  EXPECT_EQ(parse_options("name: x\r\nthreads: 2\r\n", "f.yaml").name, "x");
}

TEST(Reader, UnknownKeySuggestsAKeyOfItsSection) {
  EXPECT_EQ(problem("training:\n  learning_rte: 1\n"),
            "f.yaml:2: unknown key `training.learning_rte`; did you mean `learning_rate`?");
}

TEST(Reader, UnknownKeySuggestsAKeyOfAnotherSection) {
  EXPECT_THAT(problem("learning_rate: 1"), EndsWith("did you mean `training.learning_rate`?"));
  EXPECT_THAT(problem("training: {seed: 1}"), EndsWith("did you mean `random_seed`?"));
  EXPECT_THAT(problem("decoder: {}"), EndsWith("did you mean `model.decoder`?"));
  EXPECT_THAT(problem("testing: {beam_size: 7}"), EndsWith("did you mean `search`?"));
  EXPECT_THAT(problem("training: {beam_size: 1}"), EndsWith("did you mean `search.beam_size`?"));
  EXPECT_THAT(problem("training: {threads: 1}"),
              EndsWith("`training.threads`; did you mean the top-level key `threads`?"));
  EXPECT_THAT(problem("lerning_rate: 1"), EndsWith("did you mean `training.learning_rate`?"));
}

TEST(Reader, UnknownKeyListsAllKeys) {
  EXPECT_EQ(problem("data: {dev: {zzzzzzzz: 1}}"),
            "f.yaml:1: unknown key `data.dev.zzzzzzzz`; the keys in `data.dev` are src, trg, "
            "src_tag, trg_tag; `regard config docs` lists all");
  EXPECT_THAT(problem("zzzzzzzz: 1"), HasSubstr("the keys at the top are name, device"));
}

TEST(Reader, LimitsTheNumberOfErrors) {
  std::string yaml;
  for (int i = 0; i < 30'000; ++i) yaml += fmt::format("k{}: 1\n", i);
  const auto message = problem(yaml);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 50);
  EXPECT_THAT(message, EndsWith("and perhaps more; fix these first"));
}

TEST(Reader, AliasesOfAliasesAreFast) {
  std::string yaml = "x: &x {";
  for (int i = 0; i < 10'000; ++i) yaml += fmt::format("k{}: 1, ", i);
  yaml += "}\ndata: {train: [";
  for (int i = 0; i < 30'000; ++i) yaml += "*x, ";
  EXPECT_THAT(problem(yaml + "]}\n"), HasSubstr("unknown key `x`"));
}

TEST(Reader, LimitsNestingOfEveryKind) {
  for (const auto* open : {"[", "{a: ", "- ", "? "}) {
    std::string yaml;
    for (int i = 0; i < 100'000; ++i) yaml += open;
    EXPECT_THAT(problem(yaml), HasSubstr("f.yaml:1:")) << open;
  }
}

// yaml-cpp 0.7 finds empty documents forever in these texts.
TEST(Reader, InvalidStartsAreErrors) {
  for (const auto* yaml : {",ane", "]", "}", "\n ,", "---\n,"}) {
    EXPECT_THAT(problem(yaml), HasSubstr("f.yaml:")) << yaml;
  }
}

TEST(Reader, LimitsTheNumberOfValues) {
  std::string yaml = "x: [";
  for (int i = 0; i < 100'001; ++i) yaml += "a,";
  EXPECT_EQ(problem(yaml + "]"),
            "f.yaml:1: found more than 100000 values, too many for a configuration");
}

TEST(Reader, LimitsTheSize) {
  EXPECT_THAT(problem(std::string((1 << 20) + 1, '#')),
              HasSubstr("expected a configuration of at most 1048576"));
  EXPECT_NO_THROW(parse_options(std::string(1 << 20, '#'), "f.yaml"));
}

TEST(Reader, DottedKeyExplainsSections) {
  EXPECT_THAT(problem("training.epochs: 1"), HasSubstr("instead of dots"));
}

TEST(Reader, WrongTypeNamesFoundAndExpected) {
  EXPECT_EQ(problem("training:\n\n  learning_rate: abc\n"),
            "f.yaml:3: training.learning_rate: found abc, expected a number between 0 and 1000");
  EXPECT_EQ(problem("training: {epochs: 1.5}"),
            "f.yaml:1: training.epochs: found 1.5, expected a whole number, at least 0");
  EXPECT_EQ(problem("training: {epochs: [1]}"),
            "f.yaml:1: training.epochs: found a list, expected a whole number, at least 0");
  EXPECT_EQ(problem("data: {tokenizer: {joint: 1}}"),
            "f.yaml:1: data.tokenizer.joint: found 1, expected true or false");
  EXPECT_EQ(problem("name: {a: b}"), "f.yaml:1: name: found a section, expected a text");
}

TEST(Reader, QuotedNumberIsAString) {
  EXPECT_EQ(problem("threads: \"2\""),
            "f.yaml:1: threads: found the text \"2\", expected a whole number between 0 and 1024");
  EXPECT_EQ(parse_options("name: \"2\"", "f.yaml").name, "2");
  EXPECT_EQ(parse_options("name: 2", "f.yaml").name, "2");
  EXPECT_EQ(parse_options("training: {optimizer: 'sgd'}", "f.yaml").training.optimizer,
            OptimizerKind::sgd);
}

TEST(Reader, OutOfRangeNamesTheClosedRange) {
  EXPECT_EQ(problem("training: {label_smoothing: 1.5}"),
            "f.yaml:1: training.label_smoothing: found 1.5, expected a number between 0 and 0.99");
  EXPECT_EQ(problem("training: {epochs: -1}"),
            "f.yaml:1: training.epochs: found -1, expected a whole number, at least 0");
  EXPECT_EQ(parse_options("training: {label_smoothing: 0.99, epochs: 0}", "f").training.epochs, 0);
}

TEST(Reader, UnknownChoiceSuggestsAndListsAll) {
  EXPECT_EQ(problem("training: {optimizer: adamm}"),
            "f.yaml:1: training.optimizer: found adamm, expected one of adam, adamw, sgd, "
            "adadelta; did you mean `adam`?");
  EXPECT_EQ(
      problem("training: {optimizer: rprop}"),
      "f.yaml:1: training.optimizer: found rprop, expected one of adam, adamw, sgd, adadelta");
}

TEST(Reader, IntegersMayHaveAnExponent) {
  EXPECT_EQ(parse_options("training: {max_steps: 1e3}", "f").training.max_steps, 1000);
  EXPECT_EQ(parse_options("training: {max_steps: 2.5e6}", "f").training.max_steps, 2500000);
  EXPECT_EQ(parse_options("training: {random_seed: 9223372036854775807}", "f").training.random_seed,
            9223372036854775807);
  for (const char* bad : {"2_000", "1e-3", "0x10", "99999999999999999999", "1e18", "1 000", "''"}) {
    EXPECT_THAT(problem(std::string("training: {max_steps: ") + bad + "}"),
                HasSubstr("expected a whole number"))
        << bad;
  }
}

TEST(Reader, NamesTheLargestInteger) {
  const std::string limit = "; the largest is 9223372036854775807, in digits";
  for (const std::string number : {"99999999999999999999", "1e18"}) {
    EXPECT_EQ(problem("training: {epochs: " + number + "}"),
              "f.yaml:1: training.epochs: found " + number +
                  ", expected a whole number, at least 0" + limit);
  }
  for (const std::string other : {"1.5", "-99999999999999999999", "'99999999999999999999'"}) {
    EXPECT_THAT(problem("training: {epochs: " + other + "}"), Not(HasSubstr("the largest is")));
  }
}

TEST(Reader, RejectsNanAndInfinity) {
  for (const char* bad : {".nan", "nan", ".inf", "-.inf", "inf", "infinity", "1e999"}) {
    EXPECT_THAT(problem(std::string("training: {learning_rate: ") + bad + "}"),
                HasSubstr("expected a number"))
        << bad;
  }
}

TEST(Reader, BooleansAreThoseOfYaml11) {
  for (const char* yes : {"true", "True", "TRUE", "yes", "on"}) {
    EXPECT_TRUE(parse_options(std::string("data: {tokenizer: {lowercase: ") + yes + "}}", "f")
                    .data.tokenizer.lowercase);
  }
  for (const char* no : {"false", "No", "off"}) {
    EXPECT_FALSE(parse_options(std::string("model: {encoder: {bidirectional: ") + no + "}}", "f")
                     .model.encoder.bidirectional);
  }
}

TEST(Reader, DuplicateKeyNamesBothLines) {
  EXPECT_EQ(problem("training:\n  epochs: 1\n  max_steps: 2\n  epochs: 3\n"),
            "f.yaml:4: key `training.epochs` is set twice, first on line 2");
}

TEST(Reader, ListEntriesMayHaveTheSameKey) {
  EXPECT_EQ(parse_options("data: {train: [{src: a}, {src: b}]}", "f").data.train[1].src, "b");
}

TEST(Reader, SectionsAndValuesAreNotExchangeable) {
  EXPECT_THAT(problem("training: 4"), HasSubstr("training: found 4, expected a section"));
  EXPECT_THAT(problem("data:\n  train:\n    src: a\n"),
              HasSubstr("f.yaml:2: data.train: found a section, expected a list"));
  EXPECT_THAT(problem("data: {train: [a]}"),
              HasSubstr("data.train.0: found a, expected a section"));
  EXPECT_THAT(problem("just text"), HasSubstr("f.yaml:1: found just text, expected a section"));
  EXPECT_THAT(problem("- a"), HasSubstr("found a list, expected a section"));
}

TEST(Reader, MissingValueNamesItsLine) {
  EXPECT_EQ(problem("training:\n  epochs:\n  max_steps: 3\n"),
            "f.yaml:2: training.epochs: has no value; expected a whole number, at least 0 (leave "
            "the key out for its default)");
  EXPECT_THAT(problem("name: ~"), HasSubstr("name: has no value"));
}

TEST(Reader, ReportsAllErrorsInTheOrderOfTheFile) {
  const std::string message = config_error([] {
    parse_options("threads: x\ntraining:\n  epochs: y\nnme: z\n", "f.yaml",
                  {"model=3", "search.beam_size=0"});
  });
  EXPECT_EQ(message,
            "f.yaml:1: threads: found x, expected a whole number between 0 and 1024\nf.yaml:3: "
            "training.epochs: found y, expected a whole number, at least 0\nf.yaml:4: unknown key "
            "`nme`; did you mean `name`?\ncommand line: model=3: model: found 3, expected a "
            "section (keys, each with its value)\ncommand line: search.beam_size=0: found 0, "
            "expected a whole number between 1 and 1000");
}

TEST(Reader, InvalidYamlNamesLineAndColumn) {
  EXPECT_THAT(problem("name: x\ntraining: [1, 2\n"), StartsWith("f.yaml:3:1: not YAML: "));
  EXPECT_THAT(problem("a: b: c"), StartsWith("f.yaml:1:5: not YAML: "));
  EXPECT_THAT(problem("name: *nowhere"), StartsWith("f.yaml:1:7: not YAML: "));
}

TEST(Reader, NamesTheColonWithoutABlank) {
  const auto slip = [](const std::string& place, const std::string& text) {
    return "f.yaml:" + place + "a blank must follow the colon in `" + text + "`";
  };
  EXPECT_EQ(problem("name: x\ntraining:\n  epochs:40\n  patience: 5\n"), slip("3: ", "epochs:40"));
  EXPECT_EQ(problem("training:\n  epochs:40 # c\n\n  # d\n  batch_size: 5\n"),
            slip("2: ", "epochs:40"));
  EXPECT_EQ(problem("training:\n  max_steps: 5\n  epochs:40\nname: x\n"), slip("3: ", "epochs:40"));
  EXPECT_EQ(problem("data:\n  train:\n    - src:a.en\n      trg: b\n"), slip("3: ", "src:a.en"));
  EXPECT_EQ(problem("training:\n  max_steps: 5\n  epochs:40\n"),
            slip("3: unknown key `training.epochs:40`; ", "epochs:40"));
  EXPECT_EQ(problem("training:\n  epochs:40\n"),
            slip("1: training: found epochs:40, expected a section (keys, each with its value); ",
                 "epochs:40"));
  EXPECT_THAT(problem("data:\n  train:\n    - http://x: y: z\n"), HasSubstr("not YAML: "));
}

TEST(Reader, AColonInAValueIsNoMissingBlank) {
  EXPECT_THAT(problem("data:\n  train:\n    - C:\\corpus\\a.en\n"),
              AllOf(HasSubstr("found C:\\corpus\\a.en, expected a section"),
                    Not(HasSubstr("a blank must follow"))));
  for (const std::string value : {"C:\\corpus", "host:8080"}) {
    EXPECT_THAT(problem("data: " + value + "\n"),
                AllOf(HasSubstr("data: found " + value), Not(HasSubstr("a blank must follow"))));
  }
}

TEST(Reader, ATabIsNamedBeforeOtherSlips) {
  for (const std::string text : {"Warning:this text", "epochs:40"}) {
    EXPECT_THAT(problem("name: |\n  " + text + "\n\tfoo: bar\n"),
                AllOf(StartsWith("f.yaml:3:"), HasSubstr("; the line has a tab")));
  }
}

TEST(Reader, TheHintAboutColumnsNamesAKeyOfTheSameSection) {
  const std::string rule = "; the keys of a section must begin in the same column";
  EXPECT_EQ(problem("data:\n    train:\n      - src: a\n        trg: b\n   dev:\n     src: c\n"),
            "f.yaml:5: found `dev` in column 4 and `train` in column 5 on line 2" + rule);
  EXPECT_EQ(problem("data:\n  dev:\n    src: a\n   trg: b\n"),
            "f.yaml:4: found `trg` in column 4 and `src` in column 5 on line 3" + rule);
  EXPECT_EQ(problem("training:\n  epochs: 40\n search:\n  beam_size: 5\n"),
            "f.yaml:3: found `search` in column 2 and `training` in column 1 on line 1" + rule);
  EXPECT_THAT(problem("data:\n    train: []\n   zzz: 1\n"),
              AllOf(StartsWith("f.yaml:3:"), HasSubstr(": not YAML: ")));
}

TEST(Reader, NamesKeysOfASectionInDifferentColumns) {
  const std::string rule = "; the keys of a section must begin in the same column";
  EXPECT_EQ(problem("training:\n   epochs: 40\n  batch_size: 5\n"),
            "f.yaml:3: found `batch_size` in column 3 and `epochs` in column 4 on line 2" + rule);
  EXPECT_EQ(problem("training:\n epochs: 40\n\n  batch_size: 5\n"),
            "f.yaml:4: found `batch_size` in column 3 and `epochs` in column 2 on line 2" + rule);
  EXPECT_EQ(problem("data:\n  train:\n    - src: a\n     trg: b\n"),
            "f.yaml:4: found `trg` in column 6 and `src` in column 7 on line 3" + rule);
  // Other errors on a line in another column.
  EXPECT_THAT(problem("training:\n  epochs: 4\nname: a: b\n"), StartsWith("f.yaml:3:8: not YAML"));
  EXPECT_THAT(problem("training:\n  epochs: 4: 5\n"), StartsWith("f.yaml:2:12: not YAML"));
}

TEST(Reader, RejectsASecondDocument) {
  EXPECT_THAT(problem("name: a\n---\nname: b\n"), StartsWith("f.yaml:2: found a second document"));
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "---\n";
  EXPECT_THAT(problem(many), StartsWith("f.yaml:2: found a second document"));
}

TEST(Reader, InvalidUtf8NamesItsLine) {
  EXPECT_EQ(problem("name: a\n# caf\xE9\n"), "f.yaml:2: not UTF-8");
}

TEST(Reader, KeysMustBeScalars) {
  EXPECT_THAT(problem("? [a]\n: 1\n"), HasSubstr("found a list, expected the name of a key"));
  EXPECT_THAT(problem("training:\n  ~: 1\n"),
              HasSubstr("f.yaml:2: training: found nothing, expected the name of a key"));
}

TEST(Reader, AcceptsAliasesAndRejectsMergeKeys) {
  const Options o = parse_options(
      "data:\n  train: [&pair {src: a, trg: b}]\n  dev: {src: c, trg: d}\ntraining: {epochs: &n 3, "
      "patience: *n}\n",
      "f");
  EXPECT_EQ(o.training.patience, 3);
  EXPECT_THAT(problem("data:\n  dev:\n    <<: {src: a}\n"),
              HasSubstr("f.yaml:3: unknown key `data.dev.<<`; merge keys are not supported"));
}

TEST(Reader, MissingFileIsAnError) {
  EXPECT_THAT(config_error([] { read_options("no/such.yaml"); }),
              HasSubstr("no/such.yaml: no such file"));
  EXPECT_THAT(config_error([] { read_options(std::filesystem::temp_directory_path()); }),
              HasSubstr("a folder"));
}

TEST(Reader, ErrorsBeginWithThePath) {
  const ScratchFolder folder;
  const auto path = folder / "reader_test.yaml";
  put_bytes(path, "threads: x\n");
  const std::string message = config_error([&] { read_options(path); });
  EXPECT_THAT(message, StartsWith(path.string() + ":1: threads: found x"));
}

TEST(Reader, ListsAllFullKeys) {
  const std::vector<std::string> keys = all_keys();
  EXPECT_EQ(keys.front(), "name");
  EXPECT_THAT(keys, Contains("training.learning_rate"));
  EXPECT_THAT(keys, Contains("data.train.0.src"));
  EXPECT_THAT(keys, Contains("model.decoder"));
  EXPECT_THAT(keys, Not(Contains("data.train.0")));
}

}  // namespace
}  // namespace regard::reader_test
