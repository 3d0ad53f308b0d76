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

TEST(AttentionTable, EveryKindCanBeMade) {
  for (const auto& kind : attention_kinds()) {
    AttentionOptions options;
    options.kind = kind;
    EXPECT_NE(make_attention(8, 8, options), nullptr) << kind;
  }
}

}  // namespace
}  // namespace regard
