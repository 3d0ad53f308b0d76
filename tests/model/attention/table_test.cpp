#include "model/attention/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/check.h"
#include "config/reader.h"
#include "tests/model/attention_kind.h"

namespace regard::attention_table_test {
namespace {

TEST(AttentionTable, EveryKindCanBeMadeAndHasParametersOfItsSizes) {
  for (const auto& kind : choice_names<AttentionKind>()) {
    AttentionOptions options;
    options.kind = kind_named(kind);
    const auto made = make_attention(8, 8, options);
    const bool without = kind == "none" || kind == "dot" || kind == "scaled_dot";
    EXPECT_EQ(made->parameters().empty(), without) << kind;
  }
}

TEST(AttentionTable, EveryKindIsOneWordInTheConfigurationsThatSetASize) {
  for (const std::string config : {"quickstart", "multi30k"}) {
    const auto path = std::string(REGARD_SOURCE_DIR) + "/configs/" + config + ".yaml";
    for (const auto& kind : choice_names<AttentionKind>()) {
      SourceLocations locations;
      const auto options = read_options(path, {"model.attention.kind=" + kind}, &locations);
      EXPECT_NO_THROW(check_options(options, locations)) << config << ", " << kind;
      EXPECT_NO_THROW(make_attention(192, 384, options.model.attention)) << config << ", " << kind;
    }
  }
}

}  // namespace
}  // namespace regard::attention_table_test
