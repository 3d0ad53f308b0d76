#include "data/duplicate_filter.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/random.h"

namespace regard::duplicate_filter_test {
namespace {

TEST(DuplicateFilter, AddsEachHashOnce) {
  Random random(1);
  DuplicateFilter filter;
  std::set<std::uint64_t> reference;
  for (int i = 0; i < 200000; ++i) {
    // Numbers with few bits, which meet in one table, and random ones; about half are repeated.
    const auto hash =
        i % 2 == 0 ? random.below(50000) + 1 : random.below(100000) * 0x9e3779b97f4aULL;
    if (hash == 0) continue;
    ASSERT_EQ(filter.add(hash), reference.insert(hash).second) << i;
  }
  EXPECT_LT(reference.size(), 160000U);
}

TEST(DuplicateFilter, ZeroIsAHashToo) {
  DuplicateFilter filter;
  EXPECT_TRUE(filter.add(0));
  EXPECT_FALSE(filter.add(0));
}

TEST(HashOfPair, EveryByteAndTheBorderBetweenTheLinesCount) {
  const std::string zero(1, '\0');
  const std::pair<std::string, std::string> pairs[] = {
      {"", ""},          {"a", ""},          {"", "a"},          {"a", "b"},
      {"b", "a"},        {"ab", "c"},        {"a", "bc"},        {"a" + zero, ""},
      {zero, zero},      {zero + zero, ""},  {"", zero + zero},  {"12345678", "x"},
      {"1234567", "8x"}, {"123456789", "x"}, {"12345678", "9x"}, {"A", "b"}};
  std::set<std::uint64_t> hashes;
  for (const auto& [source, target] : pairs) hashes.insert(hash_of_pair(source, target));
  EXPECT_EQ(hashes.size(), std::size(pairs));
}

TEST(HashOfPair, DependsOnItsSeed) {
  EXPECT_NE(hash_of_pair("a", "b", 1), hash_of_pair("a", "b"));
  EXPECT_EQ(hash_of_pair("a", "b", 0), hash_of_pair("a", "b"));
}

}  // namespace
}  // namespace regard::duplicate_filter_test
