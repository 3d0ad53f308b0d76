#include "serve/translate_request.h"

#include <gtest/gtest.h>

#include <string>

namespace regard::translate_request_test {
namespace {

std::size_t bytes_for(const std::vector<std::string>& parts, bool copies_words) {
  TranslateRequest request;
  auto& line = request.lines.emplace_back();
  for (const auto& part : parts) line += part;
  SearchOptions search;
  search.max_output_length = 50;
  search.max_output_ratio = 0;
  return answer_bytes(request, {answer_line(parts, copies_words)}, search, 4);
}

TEST(TranslateRequest, AnAnswerWithCopiesHasRoomForTheLongestWordAtEachPosition) {
  const std::string word(5'000, 'x');
  EXPECT_GE(bytes_for({"a " + word + " b"}, true), 50 * word.size());
  EXPECT_LT(bytes_for({"a " + word + " b"}, false), 50 * word.size());
  EXPECT_EQ(bytes_for({"a b c"}, true), bytes_for({"a b c"}, false));
  EXPECT_EQ(bytes_for({" "}, true), bytes_for({" "}, false));
}

TEST(TranslateRequest, APartCopiesOnlyItsOwnWords) {
  const std::vector<std::string> parts(100, std::string(100, 'x'));  // without spaces
  EXPECT_GE(bytes_for(parts, true), 100 * 50 * 100);
  EXPECT_LT(bytes_for(parts, true), 3 * 100 * 50 * 100);
}

}  // namespace
}  // namespace regard::translate_request_test
