#include "metrics/bleu_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "metrics/mteval_rules.h"
#include "text/unicode.h"

namespace regard {

namespace {

constexpr std::array<std::pair<BleuTokenizer, std::string_view>, 5> names{
    {{BleuTokenizer::mteval_13a, "13a"},
     {BleuTokenizer::intl, "intl"},
     {BleuTokenizer::chinese, "zh"},
     {BleuTokenizer::character, "char"},
     {BleuTokenizer::none, "none"}}};

// What sacreBLEU takes for a Chinese character, punctuation marks and symbols among them. Its two
// ranges beyond the basic plane (U+20000, U+2F800) are compared as texts of two characters and so
// come out as the third and fourth to last here: “ ” … € are "Chinese" too.
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
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_entities(text);
  return isolate_marks_beside_numbers(isolate_ascii_punctuation(U" " + text + U" "));
}

// (\P{N})(\p{P})
std::u32string isolate_punctuation_after_non_number(std::u32string_view line) {
  return isolate_second(
      line, [](char32_t c) { return !is_number(c); }, is_punctuation);
}

// (\p{P})(\P{N})
std::u32string isolate_punctuation_before_non_number(std::u32string_view line) {
  return isolate_first(line, is_punctuation, [](char32_t c) { return !is_number(c); });
}

// (\p{S})
std::u32string isolate_symbols(std::u32string_view line) {
  return isolate(line, is_symbol);
}

// A period that ends the line after a number stays with it, as in mteval-v14.pl.
std::u32string tokenize_intl(std::u32string_view line) {
  std::u32string text = isolate_punctuation_after_non_number(line);
  text = isolate_punctuation_before_non_number(text);
  return isolate_symbols(text);
}

}  // namespace

std::string_view name_of(BleuTokenizer tokenizer) {
  for (const auto& [value, name] : names) {
    if (value == tokenizer) return name;
  }
  throw ConfigError("a BLEU tokenizer without a name: {}", static_cast<int>(tokenizer));
}

BleuTokenizer bleu_tokenizer_named(std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  std::vector<std::string> known;
  for (const auto& entry : names) known.emplace_back(entry.second);
  throw unknown_name("BLEU tokenizer", name, known);
}

std::u32string tokenize_for_bleu(std::u32string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::mteval_13a:
      return tokenize_13a(line);
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

}  // namespace regard
