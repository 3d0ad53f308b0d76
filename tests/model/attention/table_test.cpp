#include "model/attention/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard {
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

}  // namespace
}  // namespace regard
