#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "config/docs.h"
#include "config/writer.h"
#include "tests/cli/run.h"

namespace regard::config_test {
namespace {

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
  const auto unknown = run({"config", "docs", "training.optimiser"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("training.optimizer"));
}

TEST(Config, RequiresACommand) {
  EXPECT_EQ(run({"config"}).code, 2);
  EXPECT_EQ(run({}).code, 2);
}

}  // namespace
}  // namespace regard::config_test
