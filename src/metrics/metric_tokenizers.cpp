#include "metrics/metric_tokenizers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "text/unicode.h"

namespace regard {

namespace {

// The substitutions of mteval-v13a.pl, shared by the tokenizers of BLEU and TER. They put white
// space around a token.

bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}
bool is_not_ascii_digit(char32_t c) {
  return !is_ascii_digit(c);
}
bool is_period_or_comma(char32_t c) {
  return c == U'.' || c == U',';
}

// s/(matches)/ \1 /g
template <typename Predicate>
std::u32string isolate(std::u32string_view line, Predicate matches) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (char32_t c : line) {
    if (matches(c)) {
      spaced += {U' ', c, U' '};
    } else {
      spaced += c;
    }
  }
  return spaced;
}

enum class Isolated { first, second };

// s/(first)(second)/ \1 \2/g if the first is isolated, else s/(first)(second)/\1 \2 /g. As with any
// regular expression, matches do not overlap.
template <typename First, typename Second>
std::u32string isolate_in_pair(std::u32string_view line, Isolated isolated, First first,
                               Second second) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && first(line[i]) && second(line[i + 1])) {
      if (isolated == Isolated::first) spaced += U' ';
      spaced += {line[i], U' ', line[i + 1]};
      if (isolated == Isolated::second) spaced += U' ';
      ++i;
    } else {
      spaced += line[i];
    }
  }
  return spaced;
}

void replace_in_line(std::u32string& line, std::u32string_view from, std::u32string_view to) {
  for (auto at = line.find(from); at != line.npos; at = line.find(from, at + to.size())) {
    line.replace(at, from.size(), to);
  }
}

// Replaces &quot; &amp; &lt; &gt; by their characters, in this order.
void replace_entities(std::u32string& line) {
  replace_in_line(line, U"&quot;", U"\"");
  replace_in_line(line, U"&amp;", U"&");
  replace_in_line(line, U"&lt;", U"<");
  replace_in_line(line, U"&gt;", U">");
}

// [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII punctuation except the apostrophe, comma, dash and period.
std::u32string isolate_ascii_punctuation(std::u32string_view line) {
  return isolate(line, [](char32_t c) {
    return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') ||
           (c >= U'(' && c <= U'+') || (c >= U':' && c <= U'@') || c == U'/';
  });
}

// ([^0-9])([\.,]), then ([\.,])([^0-9]), then ([0-9])(-): numbers stay whole.
std::u32string isolate_marks_beside_numbers(std::u32string_view line) {
  const auto is_dash = [](char32_t c) { return c == U'-'; };
  auto text = isolate_in_pair(line, Isolated::second, is_not_ascii_digit, is_period_or_comma);
  text = isolate_in_pair(text, Isolated::first, is_period_or_comma, is_not_ascii_digit);
  return isolate_in_pair(text, Isolated::second, is_ascii_digit, is_dash);
}

// The tokenizers of BLEU.

// sacreBLEU's ranges of Chinese characters, which include punctuation marks and symbols. It writes
// its two ranges beyond the basic plane as '\u20000' and '\u2f800', which Python reads as U+2000
// and U+2F80 followed by '0'. They become U+2001–U+2A6D and U+2F81–U+2FA1 here, so that “ ” … € are
// "Chinese" too.
constexpr std::array<std::pair<char32_t, char32_t>, 22> chinese_ranges{
    {{0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0x9FA6, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
     {0xFA70, 0xFAD9}, {0xFF00, 0xFFEF}, {0x2E80, 0x2EFF}, {0x3000, 0x303F}, {0x31C0, 0x31EF},
     {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0xFE10, 0xFE1F},
     {0xFE30, 0xFE4F}, {0x2600, 0x26FF}, {0x2700, 0x27BF}, {0x2001, 0x2A6D}, {0x2F81, 0x2FA1},
     {0x3200, 0x32FF}, {0x3300, 0x33FF}}};

bool is_chinese(char32_t c) {
  return std::ranges::any_of(
      chinese_ranges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

std::u32string tokenize_zh(std::u32string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return isolate_marks_beside_numbers(isolate_ascii_punctuation(isolate(line, is_chinese)));
}

std::u32string tokenize_13a(std::u32string_view line) {
  std::u32string text(line);
  replace_in_line(text, U"<skipped>", U"");
  replace_in_line(text, U"-\n", U"");
  replace_in_line(text, U"\n", U" ");
  replace_entities(text);
  return isolate_marks_beside_numbers(isolate_ascii_punctuation(U" " + text + U" "));
}

// (\P{N})(\p{P}), then (\p{P})(\P{N}), then (\p{S}). A period after a number at the end of the line
// is not separated, as in mteval-v14.pl.
std::u32string tokenize_intl(std::u32string_view line) {
  const auto is_not_number = [](char32_t c) { return !is_number(c); };
  auto text = isolate_in_pair(line, Isolated::second, is_not_number, is_punctuation);
  text = isolate_in_pair(text, Isolated::first, is_punctuation, is_not_number);
  return isolate(text, is_symbol);
}

// The tokenizer of TER.

bool is_asian_punctuation(char32_t c) {
  return c == U'\u3001' || c == U'\u3002' || (c >= U'\u3008' && c <= U'\u3011') ||
         (c >= U'\u3014' && c <= U'\u301F') || (c >= U'\uFF61' && c <= U'\uFF65') || c == U'\u30FB';
}

bool is_full_width_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U"．，？：；！＂（）";
  return marks.find(c) != marks.npos;
}

// Ideographs, and their radicals, strokes, compatibility forms and enclosed forms.
bool is_asian_character(char32_t c) {
  return (c >= U'\u2E80' && c <= U'\u2EFF') || (c >= U'\u31C0' && c <= U'\u31EF') ||
         (c >= U'\u3200' && c <= U'\u4DBF') || (c >= U'\u4E00' && c <= U'\u9FFF') ||
         (c >= U'\uF900' && c <= U'\uFAFF') || (c >= U'\uFE30' && c <= U'\uFE4F');
}

std::u32string normalize_for_ter(std::u32string text) {
  replace_in_line(text, U"\n-", U"");
  replace_in_line(text, U"\n", U" ");
  replace_entities(text);
  text = isolate_ascii_punctuation(U" " + text + U" ");
  replace_in_line(text, U"'s ", U" 's ");
  return isolate_marks_beside_numbers(text);
}

bool is_western_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U".,?:;!\"()";
  return marks.find(c) != marks.npos;
}

}  // namespace

std::u32string tokenize_for_bleu(std::u32string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::mteval_13a:
      return tokenize_13a(line);
    case BleuTokenizer::sentencepiece:
      throw std::logic_error("SentencePiece tokens need a model");
    case BleuTokenizer::intl:
      return tokenize_intl(line);
    case BleuTokenizer::chinese:
      return tokenize_zh(line);
    case BleuTokenizer::character:
      return isolate(line, [](char32_t) { return true; });
    case BleuTokenizer::none:
      break;
  }
  return std::u32string(line);
}

std::u32string tokenize_for_ter(std::u32string_view line, const TerOptions& options) {
  std::u32string text = options.case_sensitive ? std::u32string(line) : to_lower(line);
  const auto is_asian_mark = [](char32_t c) {
    return is_asian_punctuation(c) || is_full_width_punctuation(c);
  };
  if (options.normalized) {
    text = normalize_for_ter(std::move(text));
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
