// Tests of key=value arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/reader.h"
#include "tests/config/message.h"

namespace regard::override_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* base = "training: {epochs: 2}\ndata: {train: [{src: a, trg: b}]}\n";

Options with(const std::vector<std::string>& overrides) {
  return parse_options(base, "f.yaml", overrides);
}
std::string problem(const std::string& override) {
  return config_error([&] { with({override}); });
}

TEST(Override, OverridesTheFile) {
  const Options o = with({"training.epochs=5", "training.learning_rate=0.0005", "name=x"});
  EXPECT_EQ(o.training.epochs, 5);
  EXPECT_EQ(o.training.learning_rate, 0.0005);
  EXPECT_EQ(o.name, "x");
  EXPECT_EQ(o.data.train[0].src, "a");
}

TEST(Override, LastOneWins) {
  EXPECT_EQ(with({"training.epochs=5", "training.epochs=6"}).training.epochs, 6);
}

TEST(Override, SetsAndAppendsListEntries) {
  const Options o = with({"data.train.0.weight=2", "data.train.1.src=c", "data.train.1.trg=d"});
  ASSERT_EQ(o.data.train.size(), 2U);
  EXPECT_EQ(o.data.train[0].weight, 2);
  EXPECT_EQ(o.data.train[0].src, "a");
  EXPECT_EQ(o.data.train[1].trg, "d");
}

TEST(Override, ReplacesAListAndFillsASection) {
  const Options o = with(
      {"data.train=[{src: x, trg: y}, {src: z, trg: w, weight: 3}]", "data.dev={src: p, trg: q}"});
  ASSERT_EQ(o.data.train.size(), 2U);
  EXPECT_EQ(o.data.train[0].src, "x");
  EXPECT_EQ(o.data.train[1].weight, 3);
  EXPECT_EQ(o.data.dev.trg, "q");
  EXPECT_TRUE(with({"data.train=[]"}).data.train.empty());
}

TEST(Override, StringsAreVerbatim) {
  EXPECT_EQ(with({"data.dev.src=a: b #c=[d"}).data.dev.src, "a: b #c=[d");
  EXPECT_EQ(with({"name=~"}).name, "~");
  EXPECT_EQ(with({"name="}).name, "");
  EXPECT_EQ(with({"name=\"a\\tb\""}).name, "a\tb");
}

TEST(Override, ErrorsNameTheOverride) {
  EXPECT_EQ(problem("training.epochs=many"),
            "command line: training.epochs=many: found many, expected a whole number, at least 0");
  EXPECT_EQ(
      problem("training.label_smoothing=1"),
      "command line: training.label_smoothing=1: found 1, expected a number between 0 and 0.99");
  EXPECT_EQ(problem("data.tokenizer.kind=bpee"),
            "command line: data.tokenizer.kind=bpee: found bpee, expected one of bpe, unigram, "
            "word, decomposed, character; did you mean `bpe`?");
  EXPECT_THAT(problem("training.epochs="), HasSubstr("training.epochs=: has no value; expected"));
}

TEST(Override, UnknownKeySuggestsTheFullKey) {
  EXPECT_THAT(problem("learning_rate=1"), HasSubstr("did you mean `training.learning_rate`?"));
  EXPECT_THAT(problem("training.learning_rte=1"),
              HasSubstr("did you mean `training.learning_rate`?"));
  EXPECT_THAT(problem("training.threads=1"),
              HasSubstr("did you mean the top-level key `threads`?"));
  EXPECT_THAT(problem("training.seed=1"), HasSubstr("did you mean `training.random_seed`?"));
  EXPECT_THAT(problem("data.dev.source=x"), HasSubstr("did you mean `data.dev.src`?"));
  EXPECT_THAT(problem("data.train.0.target=x"), HasSubstr("did you mean `data.train.0.trg`?"));
  EXPECT_THAT(problem("trainin.epochs=1"), HasSubstr("did you mean `training`?"));
  EXPECT_THAT(problem("data.train=[{src: a, trgg: b}]"),
              HasSubstr("unknown key `data.train.0.trgg`; did you mean `data.train.0.trg`?"));
}

TEST(Override, MissingKeyOrEqualsSign) {
  for (const char* bad : {"training.epochs", "=3", ""}) {
    EXPECT_THAT(problem(bad), HasSubstr("expected key=value")) << bad;
  }
}

TEST(Override, ReportsWrongPaths) {
  EXPECT_THAT(problem("name.first=x"), HasSubstr("`name` is a single value"));
  EXPECT_THAT(problem("training..epochs=1"), HasSubstr("a dot too many"));
  EXPECT_THAT(problem("training.=1"), HasSubstr("a dot too many"));
  EXPECT_THAT(problem("data.train.2.src=x"),
              HasSubstr("`data.train` is a list of 1: found entry 2, expected 0 to 1"));
  EXPECT_THAT(problem("data.train.-1.src=x"), HasSubstr("found entry -1"));
  EXPECT_THAT(problem("data.train.src=x"), HasSubstr("found entry src"));
}

TEST(Override, ReportsInvalidYaml) {
  EXPECT_THAT(problem("data.train=[{src: a"), HasSubstr("data.train=[{src: a: not YAML: "));
  EXPECT_THAT(problem("training.freeze=[*_embedding]"),
              HasSubstr("; put a text that begins with * in quotes"));
  EXPECT_THAT(problem("name=caf\xE9"), HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace regard::override_test
