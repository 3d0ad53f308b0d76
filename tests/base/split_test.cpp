#include "base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard {
namespace {

using testing::ElementsAre;

TEST(Split, EmptyPartsCountToo) {
  EXPECT_THAT(split("a.b..c", '.'), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split(".", '.'), ElementsAre("", ""));
  EXPECT_THAT(split("a b", '.'), ElementsAre("a b"));
  EXPECT_THAT(split("", '.'), ElementsAre(""));
}

}  // namespace
}  // namespace regard
