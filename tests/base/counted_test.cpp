#include "base/counted.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace regard {
namespace {

TEST(Counted, OneIsSingularAndAllElseIsPlural) {
  EXPECT_EQ(counted(0, "line"), "0 lines");
  EXPECT_EQ(counted(1, "line"), "1 line");
  EXPECT_EQ(counted(std::size_t{2}, "line"), "2 lines");
  EXPECT_EQ(counted(std::int64_t{-1}, "line"), "-1 lines");
}

TEST(Counted, TheLastWordIsInflected) {
  EXPECT_EQ(counted(1, "training pair"), "1 training pair");
  EXPECT_EQ(counted(29'000, "training pair"), "29000 training pairs");
  EXPECT_EQ(counted(2, "batch"), "2 batches");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(2, "key"), "2 keys");
  EXPECT_EQ(counted(3, "hypothesis"), "3 hypotheses");
  EXPECT_EQ(counted(3, "box"), "3 boxes");
}

}  // namespace
}  // namespace regard
