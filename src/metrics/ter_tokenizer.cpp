#include "metrics/ter_tokenizer.h"

#include "metrics/mteval_rules.h"
#include "text/unicode.h"

namespace regard {

namespace {

bool is_asian_punctuation(char32_t c) {
  return c == U'\u3001' || c == U'\u3002' || (c >= U'\u3008' && c <= U'\u3011') ||
         (c >= U'\u3014' && c <= U'\u301F') || (c >= U'\uFF61' && c <= U'\uFF65') || c == U'\u30FB';
}

bool is_full_width_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U"．，？：；！＂（）";
  return marks.find(c) != marks.npos;
}

// Ideographs and their radicals, strokes, compatibility forms and enclosed ones.
bool is_asian_character(char32_t c) {
  return (c >= U'\u2E80' && c <= U'\u2EFF') || (c >= U'\u31C0' && c <= U'\u31EF') ||
         (c >= U'\u3200' && c <= U'\u4DBF') || (c >= U'\u4E00' && c <= U'\u9FFF') ||
         (c >= U'\uF900' && c <= U'\uFAFF') || (c >= U'\uFE30' && c <= U'\uFE4F');
}

std::u32string normalize(std::u32string text) {
  replace_all(text, U"\n-", U"");
  replace_all(text, U"\n", U" ");
  replace_entities(text);
  text = isolate_ascii_punctuation(U" " + text + U" ");
  replace_all(text, U"'s ", U" 's ");
  return isolate_marks_beside_numbers(text);
}

bool is_western_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U".,?:;!\"()";
  return marks.find(c) != marks.npos;
}

}  // namespace

std::u32string tokenize_for_ter(std::u32string_view line, const TerOptions& options) {
  std::u32string text = options.case_sensitive ? std::u32string(line) : to_lower(line);
  const auto is_asian_mark = [](char32_t c) {
    return is_asian_punctuation(c) || is_full_width_punctuation(c);
  };
  if (options.normalized) {
    text = normalize(std::move(text));
    if (options.asian_support) {
      text = isolate(text, [&](char32_t c) { return is_asian_character(c) || is_asian_mark(c); });
    }
  }
  if (options.no_punctuation) {
    std::erase_if(text, is_western_punctuation);
    if (options.asian_support) std::erase_if(text, is_asian_mark);
  }
  return text;
}

}  // namespace regard
