#include "text/word_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Gives each word its length for an id, and notes who was asked for.
struct Lengths {
  std::vector<std::int32_t> operator()(std::string_view word) {
    asked.emplace_back(word);
    return {static_cast<std::int32_t>(word.size())};
  }
  std::vector<std::int32_t> of(std::string_view line) {
    return cache.encode(line, std::ref(*this));
  }

  WordCache cache;
  std::vector<std::string> asked;
};

TEST(WordCache, AsksOnceForEachWordAndKeepsTheOrder) {
  Lengths lengths;
  EXPECT_THAT(lengths.of("a bcd a ef"), ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(lengths.of("ef bcd"), ElementsAre(2, 3));
  EXPECT_THAT(lengths.asked, ElementsAre("a", "bcd", "ef"));
}

TEST(WordCache, OnlySpacesPartWords) {
  Lengths lengths;
  EXPECT_THAT(lengths.of("  a  b\tc\u00A0d  "), ElementsAre(1, 6));
  EXPECT_THAT(lengths.of(""), IsEmpty());
  EXPECT_THAT(lengths.of("   "), IsEmpty());
}

TEST(WordCache, LongWordsAreNotKept) {
  Lengths lengths;
  const std::string longer(33, 'x');
  EXPECT_THAT(lengths.of(longer + " " + longer), ElementsAre(33, 33));
  EXPECT_THAT(lengths.asked, ElementsAre(longer, longer));
}

TEST(WordCache, StopsGrowing) {
  Lengths lengths;
  for (int i = 0; i < 200001; ++i) lengths.of(std::to_string(i));
  lengths.asked.clear();
  lengths.of("0 199999 200000");
  EXPECT_THAT(lengths.asked, ElementsAre("200000"));
}

}  // namespace
}  // namespace regard
