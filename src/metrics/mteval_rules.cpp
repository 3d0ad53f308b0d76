#include "metrics/mteval_rules.h"

namespace regard {

namespace {

bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}
bool is_no_ascii_digit(char32_t c) {
  return !is_ascii_digit(c);
}
bool is_period_or_comma(char32_t c) {
  return c == U'.' || c == U',';
}

}  // namespace

void replace_all(std::u32string& line, std::u32string_view from, std::u32string_view to) {
  for (auto at = line.find(from); at != line.npos; at = line.find(from, at + to.size())) {
    line.replace(at, from.size(), to);
  }
}

void replace_entities(std::u32string& line) {
  replace_all(line, U"&quot;", U"\"");
  replace_all(line, U"&amp;", U"&");
  replace_all(line, U"&lt;", U"<");
  replace_all(line, U"&gt;", U">");
}

std::u32string isolate_ascii_punctuation(std::u32string_view line) {
  return isolate(line, [](char32_t c) {
    return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') ||
           (c >= U'(' && c <= U'+') || (c >= U':' && c <= U'@') || c == U'/';
  });
}

std::u32string isolate_marks_beside_numbers(std::u32string_view line) {
  const auto behind_words = isolate_second(line, is_no_ascii_digit, is_period_or_comma);
  const auto before_words = isolate_first(behind_words, is_period_or_comma, is_no_ascii_digit);
  return isolate_second(before_words, is_ascii_digit, [](char32_t c) { return c == U'-'; });
}

}  // namespace regard
