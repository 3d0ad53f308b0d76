#include "text/element_tokenizers.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace regard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(NumbersTokenizer, ReadsVectorsOfItsWidth) {
  const auto one = make_numbers_tokenizer(1);
  const auto two = make_numbers_tokenizer(2);
  EXPECT_THAT(one->numbers(" 0.5\t-2e3 7"), ElementsAre(0.5F, 0, -2000.0F, 0, 7.0F, 0, 0, 1));
  EXPECT_THAT(two->numbers("0.5,1 -2,3"), ElementsAre(0.5F, 1.0F, 0, -2.0F, 3.0F, 0, 0, 0, 1));
  EXPECT_EQ(two->encode("0.5,1 -2,3").size(), 2U);
  EXPECT_THAT(two->pieces("0.5,1 -2,3"), ElementsAre("0.5,1", "-2,3"));
  EXPECT_TRUE(two->encode("").empty());
  EXPECT_THAT(two->numbers(""), ElementsAre(0, 0, 1));
}

TEST(NumbersTokenizer, ErrorsNameTheWord) {
  const auto two = make_numbers_tokenizer(2);
  for (const std::string word : {"a,b", "1,", ",1", "1,nan", "1,inf", "1;2", "0x1,2"}) {
    EXPECT_THAT(error_of([&] { two->numbers("1,2 " + word); }), HasSubstr("`" + word + "`"));
  }
  EXPECT_THAT(error_of([&] { two->numbers("1"); }), HasSubstr("`1` has 1 number, expected 2"));
  EXPECT_THAT(error_of([&] { two->numbers("1,2,3"); }), HasSubstr("has 3 numbers, expected 2"));
}

TEST(PositionsTokenizer, CountsFromZeroAfterTheSpecialTokens) {
  const auto positions = make_positions_tokenizer();
  const auto ids = positions->encode("2 0 11");
  EXPECT_THAT(ids, ElementsAre(6, 4, 15));
  EXPECT_EQ(positions->decode(ids), "2 0 11");
  EXPECT_EQ(positions->token(6), "2");
  EXPECT_EQ(positions->token(3), "</s>");
}

TEST(PositionsTokenizer, ErrorsNameTheWord) {
  const auto positions = make_positions_tokenizer();
  for (const std::string word : {"-1", "one", "1.0", "2147483647", "99999999999"}) {
    EXPECT_THAT(error_of([&] { positions->encode("0 " + word); }), HasSubstr("`" + word + "`"));
  }
}

}  // namespace
}  // namespace regard
