#include "text/word_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Encodes each word as its length, and records the words it was called for.
struct LengthEncoder {
  std::vector<std::int32_t> operator()(std::string_view word) {
    encoded.emplace_back(word);
    return {static_cast<std::int32_t>(word.size())};
  }
  std::vector<std::int32_t> encode(std::string_view line) {
    return cache.encode(line, std::ref(*this));
  }

  WordCache cache;
  std::vector<std::string> encoded;
};

TEST(WordCache, EncodesEachWordOnceAndKeepsTheOrder) {
  LengthEncoder lengths;
  EXPECT_THAT(lengths.encode("a bcd a ef"), ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(lengths.encode("ef bcd"), ElementsAre(2, 3));
  EXPECT_THAT(lengths.encoded, ElementsAre("a", "bcd", "ef"));
}

TEST(WordCache, SplitsOnlyAtSpaces) {
  LengthEncoder lengths;
  EXPECT_THAT(lengths.encode("  a  b\tc\u00A0d  "), ElementsAre(1, 6));
  EXPECT_THAT(lengths.encode(""), IsEmpty());
  EXPECT_THAT(lengths.encode("   "), IsEmpty());
}

TEST(WordCache, DoesNotStoreLongWords) {
  LengthEncoder lengths;
  const std::string longer(33, 'x');
  EXPECT_THAT(lengths.encode(longer + " " + longer), ElementsAre(33, 33));
  EXPECT_THAT(lengths.encoded, ElementsAre(longer, longer));
}

TEST(WordCache, StopsGrowing) {
  LengthEncoder lengths;
  for (int i = 0; i < 200001; ++i) lengths.encode(std::to_string(i));
  lengths.encoded.clear();
  lengths.encode("0 199999 200000");
  EXPECT_THAT(lengths.encoded, ElementsAre("200000"));
}

}  // namespace
}  // namespace regard
