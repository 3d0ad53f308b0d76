#include "serve/translate_request.h"

#include <gtest/gtest.h>

#include <string>

namespace regard::translate_request_test {
namespace {

std::size_t bytes_for(const std::string& line, bool copies) {
  TranslateRequest request;
  request.lines = {line};
  SearchOptions search;
  search.max_output_length = 50;
  search.max_output_ratio = 0;
  return answer_bytes(request, {1}, search, 4, copies);
}

TEST(TranslateRequest, TheAnswerOfAModelThatCopiesHasRoomForItsLongestWordAtEachPosition) {
  const std::string word(5'000, 'x');
  EXPECT_GE(bytes_for("a " + word + " b", true), 50 * word.size());
  EXPECT_LT(bytes_for("a " + word + " b", false), 50 * word.size());
  EXPECT_EQ(bytes_for("a b c", true), bytes_for("a b c", false));
}

}  // namespace
}  // namespace regard::translate_request_test
