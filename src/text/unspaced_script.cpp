#include "text/unspaced_script.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "text/unicode.h"

namespace regard {
namespace {

using Range = std::pair<char32_t, char32_t>;

constexpr std::array<Range, 6> ideographs{{{0x3400, 0x4DBF},
                                           {0x4E00, 0x9FFF},
                                           {0xF900, 0xFAFF},
                                           {0x20000, 0x2FA1F},
                                           {0x30000, 0x323AF},
                                           {0x3005, 0x3007}}};
constexpr std::array<Range, 3> kana{{{0x3041, 0x30FF}, {0x31F0, 0x31FF}, {0xFF66, 0xFF9F}}};
// CJK symbols and punctuation, and full-width forms.
constexpr std::array<Range, 2> wide_marks{{{0x3001, 0x303F}, {0xFF01, 0xFF60}}};
// Thai, Lao, Burmese, Khmer.
constexpr std::array<Range, 3> south_east_asian{
    {{0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}}};

constexpr char32_t first_unspaced = 0x0E00;  // the start of the first range above

template <std::size_t n>
bool is_in(const std::array<Range, n>& ranges, char32_t c) {
  return std::ranges::any_of(
      ranges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

constexpr std::size_t max_letters_per_segmented_word = 6;

struct Letters {
  std::size_t all = 0;
  std::size_t ideographs = 0;
  std::size_t kana = 0;
  std::size_t south_east_asian = 0;
  std::size_t words = 0;  // words with a letter of these scripts, separated by spaces

  std::size_t unspaced() const { return ideographs + kana + south_east_asian; }

  void add_word(std::u32string_view word) {
    const auto before = unspaced();
    for (const auto c : word) {
      if (!is_letter(c)) continue;
      ++all;
      if (c < first_unspaced) continue;
      ideographs += is_in(regard::ideographs, c) ? 1 : 0;
      kana += is_in(regard::kana, c) ? 1 : 0;
      south_east_asian += is_in(regard::south_east_asian, c) ? 1 : 0;
    }
    words += unspaced() > before ? 1 : 0;
  }
};

}  // namespace

bool is_unspaced(char32_t c) {
  return c >= first_unspaced &&
         (is_in(ideographs, c) || is_in(kana, c) || is_in(south_east_asian, c));
}

bool is_inside_word(char32_t c) {
  return (is_letter(c) || is_number(c)) && !is_unspaced(c);
}

bool is_word_boundary(char32_t before, char32_t after) {
  if (is_inside_word(before) && is_inside_word(after)) return false;
  const std::array<char32_t, 2> both{before, after};
  return last_grapheme({both.data(), both.size()}) != 0;
}

bool is_unspaced_line(std::u32string_view line) {
  Letters letters;
  for (const auto word : split_words(line)) letters.add_word(word);
  return 2 * letters.unspaced() > letters.all &&
         (letters.words == 1 ||
          letters.unspaced() > max_letters_per_segmented_word * letters.words);
}

std::string_view space_between(std::string_view before, std::string_view after) {
  const auto left = decode_utf8(before);
  const auto right = decode_utf8(after);
  if (left.empty() || right.empty()) return "";
  const auto is_wide = [](char32_t c) {
    return is_in(ideographs, c) || is_in(kana, c) || is_in(wide_marks, c);
  };
  const bool is_segmented = left.size() > 1 && is_space(left[left.size() - 2]);
  return !is_segmented && (is_wide(left.back()) || is_wide(right.front())) ? "" : " ";
}

std::string_view language_name(UnspacedScript script) {
  switch (script) {
    case UnspacedScript::chinese:
      return "Chinese";
    case UnspacedScript::japanese:
      return "Japanese";
    case UnspacedScript::south_east_asian:
      break;
  }
  return "Thai, Lao, Burmese or Khmer";
}

std::optional<UnspacedScript> unspaced_script(const std::vector<std::string>& lines) {
  Letters letters;
  for (const auto& line : lines) {
    const auto text = decode_utf8(line);
    for (const auto word : split_words(text)) letters.add_word(word);
  }
  const auto unspaced = letters.unspaced();
  if (2 * unspaced <= letters.all || unspaced <= max_letters_per_segmented_word * letters.words) {
    return std::nullopt;
  }
  if (2 * letters.south_east_asian > unspaced) return UnspacedScript::south_east_asian;
  // Chinese has no kana; a tenth allows for quotations.
  return 10 * letters.kana > unspaced ? UnspacedScript::japanese : UnspacedScript::chinese;
}

}  // namespace regard
