#include "model/attention/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/reader.h"

namespace regard::attention_table_test {
namespace {

TEST(AttentionTable, AnUnknownKindNamesTheNearestAndListsAll) {
  AttentionOptions options;
  options.kind = "aditive";
  try {
    make_attention(4, 4, options);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean `additive`?"));
    for (const auto& kind : attention_kinds()) {
      EXPECT_THAT(error.what(), testing::HasSubstr(kind));
    }
  }
}

TEST(AttentionTable, EveryKindCanBeMadeAndHasParametersOfItsSizes) {
  for (const auto& kind : attention_kinds()) {
    AttentionOptions options;
    options.kind = kind;
    const auto made = make_attention(8, 8, options);
    const bool without = kind == "none" || kind == "dot" || kind == "scaled_dot";
    EXPECT_EQ(made->parameters().empty(), without) << kind;
  }
}

TEST(AttentionTable, EveryKindIsOneWordInTheConfigurationsThatSetASize) {
  for (const std::string config : {"quickstart", "multi30k"}) {
    const auto path = std::string(REGARD_SOURCE_DIR) + "/configs/" + config + ".yaml";
    for (const auto& kind : attention_kinds()) {
      SourceLocations locations;
      const auto options = read_options(path, {"model.attention.kind=" + kind}, &locations);
      EXPECT_NO_THROW(check_attention(options.model, locations)) << config << ", " << kind;
      EXPECT_NO_THROW(make_attention(192, 384, options.model.attention)) << config << ", " << kind;
    }
  }
}

TEST(AttentionTable, OtherOptionsThatAKindDoesNotReadAreErrors) {
  ModelOptions options;
  options.attention.kind = "dot";
  options.attention.heads = 2;
  EXPECT_THROW(check_attention(options, {}), ConfigError);
}

}  // namespace
}  // namespace regard::attention_table_test
