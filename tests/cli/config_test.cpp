#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "config/docs.h"
#include "config/writer.h"
#include "tests/cli/run.h"

namespace regard::config_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Config, PrintsEveryKeyWithOverrides) {
  const auto file = fresh_folder() / "c.yaml";
  write_text(file, "name: small\nmodel: {attention: {size: 32}}\n");
  const auto finished =
      run({"config", "print", "-c", file.string(), "training.learning_rate=0.25"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  Options options;
  options.name = "small";
  options.model.attention.size = 32;
  options.training.learning_rate = 0.25;
  EXPECT_EQ(finished.out, write_options(options));
}

TEST(Config, PrintsTheDefaultsWithoutAFile) {
  const auto finished = run({"config", "print"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, write_options({}));
}

TEST(Config, PrintedConfigurationReadsBack) {
  const auto file = fresh_folder() / "c.yaml";
  const auto first = run({"config", "print", "--help-comments", "training.epochs=3"});
  write_text(file, first.out);
  const auto second = run({"config", "print", "-c", file.string(), "--help-comments"});
  EXPECT_THAT(first.out, HasSubstr("# "));
  EXPECT_EQ(second.out, first.out);
}

TEST(Config, ErrorsNameFileAndLine) {
  const auto file = fresh_folder() / "c.yaml";
  write_text(file, "name: small\ntrainin: {}\n");
  const auto finished = run({"config", "print", "-c", file.string()});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr(file.string() + ":2"));
  EXPECT_THAT(finished.err, HasSubstr("training"));
}

TEST(Config, PrintsTheGeneratedPages) {
  EXPECT_EQ(run({"config", "docs"}).out, options_markdown());
  const auto schema = run({"config", "schema"});
  EXPECT_EQ(schema.out, options_schema());
  EXPECT_TRUE(Json::accept(schema.out));
}

TEST(Config, DocumentsOneKeyOrASection) {
  const auto key = run({"config", "docs", "training.optimizer"});
  EXPECT_EQ(key.code, 0);
  EXPECT_EQ(lines_of(key.out)[0], "training.optimizer");
  EXPECT_THAT(key.out, HasSubstr("adadelta"));
  EXPECT_EQ(lines_of(key.out).size(), 3);
  const auto section = run({"config", "docs", "model.dropout"});
  EXPECT_THAT(section.out, HasSubstr("model.dropout.embeddings\n"));
  EXPECT_EQ(section.out.find("model.encoder"), std::string::npos);
  const auto slip = run({"config", "docs", "epochs:40"});
  EXPECT_EQ(slip.code, 2);
  EXPECT_THAT(slip.err, testing::Not(HasSubstr("a blank must follow")));
  const auto unknown = run({"config", "docs", "training.optimiser"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("training.optimizer"));
}

TEST(Config, DocumentsEveryKeyThatEndsInAWord) {
  const auto documented = [](const std::string& word) {
    const auto finished = run({"config", "docs", word});
    EXPECT_EQ(finished.code, 0) << finished.err;
    Words keys;
    for (const auto& line : lines_of(finished.out)) {
      if (!line.empty() && line[0] != ' ') keys.push_back(line);
    }
    return keys;
  };
  EXPECT_EQ(documented("learning_rate"), Words{"training.learning_rate"});
  EXPECT_EQ(documented("heads"),
            (Words{"model.encoder.heads", "model.decoder.heads", "model.attention.heads"}));
  EXPECT_THAT(documented("dropout"), testing::Contains("model.dropout.states"));
  EXPECT_THAT(documented("attention"),
              testing::IsSupersetOf({"model.attention.kind", "model.dropout.attention"}));
}

TEST(Config, SuggestsOneKeyForAnUnknownWord) {
  const auto error_of = [](const std::string& word) {
    const auto finished = run({"config", "docs", word});
    EXPECT_EQ(finished.code, 2);
    return lines_of(finished.err).at(0);
  };
  EXPECT_EQ(error_of("lr"), "error: unknown key `lr`; did you mean `training.learning_rate`?");
  EXPECT_EQ(error_of("data.train.src"),
            "error: unknown key `data.train.src`; did you mean `data.train.0.src`?");
  EXPECT_EQ(error_of("trainin.epochs"), "error: unknown key `trainin`; did you mean `training`?");
  EXPECT_THAT(error_of("zzzzzzzz"), AllOf(HasSubstr("the keys at the top are name, device"),
                                          HasSubstr("`regard config docs` lists all")));
}

TEST(Config, RequiresACommand) {
  EXPECT_EQ(run({"config"}).code, 2);
  EXPECT_EQ(run({}).code, 2);
}

}  // namespace
}  // namespace regard::config_test
