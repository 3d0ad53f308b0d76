#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace regard {
namespace {

// True for U+0000 to U+001F and U+007F to U+009F.
bool is_control(std::string_view point) {
  const auto byte = static_cast<unsigned char>(point[0]);
  return byte < 0x20 || byte == 0x7F ||
         (byte == 0xC2 && static_cast<unsigned char>(point[1]) < 0xA0);
}

// The properties of a sequence that its first byte determines (table 3-7): its length, and the
// bounds of its second byte.
struct Lead {
  std::size_t length;  // 0: no sequence begins with this byte
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
};

Lead lead(std::uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

// Returns the bytes of the first code point; a single byte if no sequence begins there.
std::string_view first_code_point(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(lead(static_cast<std::uint8_t>(text[0])).length, 1));
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  std::size_t i = 0;
  while (i < text.size()) {
    const Lead first = lead(byte(i));
    if (first.length == 0 || i + first.length > text.size()) return i;
    if (first.length > 1 && (byte(i + 1) < first.low || byte(i + 1) > first.high)) return i;
    for (std::size_t k = 2; k < first.length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return i;
    }
    i += first.length;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  points.reserve(text.size());
  while (!text.empty()) {
    points.push_back(first_code_point(text));
    text.remove_prefix(points.back().size());
  }
  return points;
}

std::string_view code_point_at(std::string_view text, std::size_t at) {
  auto end = at + 1;
  while (end < text.size() && !begins_code_point(text, end)) ++end;
  return text.substr(at, end - at);
}

std::size_t previous_code_point(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && !begins_code_point(text, at));
  return at;
}

std::vector<std::string_view> split_at_ascii_space(std::string_view text) {
  constexpr std::string_view ascii_space = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(ascii_space); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(ascii_space, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(ascii_space, end);
  }
  return words;
}

bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const std::string_view point = first_code_point(text);
    if (!is_space(decode_utf8(point).front())) return false;
    text.remove_prefix(point.size());
  }
  return true;
}

bool has_letter(std::string_view text) {
  return std::ranges::any_of(decode_utf8(text), is_letter);
}

std::string excerpt(std::string_view text) {
  constexpr int max_points = 40;
  std::string result;
  for (int i = 0; !text.empty(); ++i) {
    if (i == max_points) return result + "…";
    const std::string_view point = first_code_point(text);
    result += is_control(point) ? "\uFFFD" : point;
    text.remove_prefix(point.size());
  }
  return result;
}

namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr char32_t capital_i_with_dot = 0x0130;
constexpr char32_t combining_dot_above = 0x0307;
constexpr char32_t capital_sigma = 0x03A3;
constexpr char32_t final_sigma = 0x03C2;

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Unicode's property Cased: letters with case, two ordinal signs, Roman numerals, and letters in
// circles or squares.
bool is_cased(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      return c == 0xAA || c == 0xBA || (c >= 0x2160 && c <= 0x217F) ||
             (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  }
}

// Unicode's property Case_Ignorable: marks, modifiers, and the characters of the Word_Break classes
// MidLetter, MidNumLet and Single_Quote.
bool is_case_ignorable(char32_t c) {
  constexpr std::u32string_view within_words =
      U"':\u00B7\u0387\u055F\u05F4\u2027\uFE13\uFE55\uFF1A.\u2018\u2019\u2024\uFE52\uFF07\uFF0E";
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return within_words.find(c) != std::u32string_view::npos;
  }
}

// True if a cased letter precedes the position and none follows it, ignoring case-ignorable
// characters.
bool ends_word(std::u32string_view text, std::size_t position) {
  auto before =
      std::find_if_not(text.rbegin() + static_cast<std::ptrdiff_t>(text.size() - position),
                       text.rend(), is_case_ignorable);
  if (before == text.rend() || !is_cased(*before)) return false;
  auto after = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(position) + 1,
                                text.end(), is_case_ignorable);
  return after == text.end() || !is_cased(*after);
}

// Returns the text in a canonical normalisation form.
std::string mapped(std::string_view text, int form) {
  utf8proc_uint8_t* to = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &to,
                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
  if (size < 0) return std::string(text);  // not UTF-8
  std::string result(reinterpret_cast<const char*>(to), static_cast<std::size_t>(size));
  std::free(to);
  return result;
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  auto* next = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(next, left, &point);
    points.push_back(length > 0 ? static_cast<char32_t>(point) : replacement);
    const utf8proc_ssize_t step = std::max<utf8proc_ssize_t>(length, 1);
    next += step;
    left -= step;
  }
  return points;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (char32_t c : text) {
    utf8proc_uint8_t buffer[4];
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), buffer);
    bytes.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(length));
  }
  return bytes;
}

bool is_punctuation(char32_t c) {
  const auto value = category(c);
  return value >= UTF8PROC_CATEGORY_PC && value <= UTF8PROC_CATEGORY_PO;
}

bool is_symbol(char32_t c) {
  const auto value = category(c);
  return value >= UTF8PROC_CATEGORY_SM && value <= UTF8PROC_CATEGORY_SO;
}

bool is_number(char32_t c) {
  const auto value = category(c);
  return value >= UTF8PROC_CATEGORY_ND && value <= UTF8PROC_CATEGORY_NO;
}

bool is_letter(char32_t c) {
  const auto value = category(c);
  return (value >= UTF8PROC_CATEGORY_LU && value <= UTF8PROC_CATEGORY_LO) ||
         (value >= UTF8PROC_CATEGORY_MN && value <= UTF8PROC_CATEGORY_ME);
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::u32string capitalised(std::u32string_view text) {
  std::u32string result(text);
  if (result.empty()) return result;
  const auto first = static_cast<utf8proc_int32_t>(result.front());
  result.front() = static_cast<char32_t>(utf8proc_totitle(first));
  return result;
}

std::string decomposed(std::string_view text) {
  return mapped(text, UTF8PROC_DECOMPOSE);
}

std::string composed(std::string_view text) {
  return mapped(text, UTF8PROC_COMPOSE);
}

std::size_t last_grapheme(std::u32string_view text) {
  utf8proc_int32_t state = 0;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(text[i - 1]),
                                         static_cast<utf8proc_int32_t>(text[i]), &state)) {
      begin = i;
    }
  }
  return begin;
}

std::u32string to_lower(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == capital_i_with_dot) {
      lower += {U'i', combining_dot_above};
    } else if (text[i] == capital_sigma && ends_word(text, i)) {
      lower += final_sigma;
    } else {
      lower += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(text[i])));
    }
  }
  return lower;
}

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    while (i < text.size() && !is_space(text[i])) ++i;
    if (i > start) words.push_back(text.substr(start, i - start));
    ++i;
  }
  return words;
}

std::size_t word_count(std::string_view text) {
  return split_words(decode_utf8(text)).size();
}

std::vector<Glyph> split_glyphs(std::string_view utf8) {
  std::vector<Glyph> glyphs;
  utf8proc_int32_t previous = 0;
  utf8proc_int32_t state = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    utf8proc_int32_t point = 0;
    const auto length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()) + at,
                         static_cast<utf8proc_ssize_t>(utf8.size() - at), &point);
    const bool valid = length > 0;
    if (!valid) point = static_cast<utf8proc_int32_t>(replacement);
    const auto bytes = valid ? static_cast<std::size_t>(length) : 1;
    const auto columns = static_cast<std::size_t>(std::max(0, utf8proc_charwidth(point)));
    if (glyphs.empty() || utf8proc_grapheme_break_stateful(previous, point, &state)) {
      glyphs.push_back({utf8.substr(at, bytes), columns});
    } else {
      auto& glyph = glyphs.back();
      glyph.text = {glyph.text.data(), glyph.text.size() + bytes};
      // U+FE0F selects the wide emoji form of the character before it.
      glyph.columns = point == 0xFE0F ? 2 : std::min<std::size_t>(2, glyph.columns + columns);
    }
    previous = point;
    at += bytes;
  }
  return glyphs;
}

}  // namespace regard
