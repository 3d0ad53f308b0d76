// Small functions on text: split, wrap, read a number, count with a noun, quote for a shell, escape
// controls.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace regard {

// Returns the parts of `text` between separators, empty parts included: "a..b" has three. The parts
// are views into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// Returns the number that the whole text is; nullopt for other text, and for a number that the type
// does not hold.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Test a byte of UTF-8 for ASCII: a space or U+0009 to U+000D, 0 to 9, A to Z or a to z.
constexpr bool is_space_byte(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool is_digit_byte(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the text with lower case for the letters A to Z; other bytes stay.
std::string lower_ascii(std::string_view text);

// Returns the text with `to` in place of each `from`, which is not empty.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Counts the bytes that begin a character of UTF-8.
std::size_t count_characters(std::string_view text);

// Breaks text at blanks into lines of at most `width` characters. All lines but the first begin
// with `indent`. Longer words stay whole.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent);

// Returns the noun, in the plural unless `is_one`. Adds -s, or -es after a sibilant ("batches").
// Replaces -y after a consonant by -ies ("entries"), and -is by -es ("hypotheses").
std::string pluralize(bool is_one, std::string_view noun);

// Returns a count with its noun: counted(3, "training pair") is "3 training pairs".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return std::to_string(count) + " " + pluralize(count == 1, noun);
}

// Returns true if the whole text matches the pattern, in which each * stands for any characters,
// also none.
bool matches_pattern(std::string_view text, std::string_view pattern);

// Returns the text as one word of a POSIX shell, for commands to paste: as it is, or in single
// quotes if it has blanks or other characters with a meaning there.
std::string shell_word(std::string_view text);

// Returns text that is safe to print on a terminal: control characters except tabs and line feeds
// become escapes such as \x1B. Accepts bytes that are not UTF-8.
std::string escape_controls(std::string_view text);

}  // namespace regard
