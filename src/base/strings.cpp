#include "base/strings.h"

#include <fmt/format.h>

#include <algorithm>

namespace regard {
namespace {

bool ends_in_sibilant(std::string_view noun) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"s", "x", "z", "ch", "sh"},
                             [&](auto end) { return noun.ends_with(end); });
}

bool ends_in_consonant_y(std::string_view noun) {
  constexpr std::string_view vowels = "aeiou";
  return noun.size() > 1 && noun.ends_with('y') &&
         vowels.find(noun[noun.size() - 2]) == std::string_view::npos;
}

}  // namespace

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at; (at = text.find(from)) != std::string_view::npos;) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::string wrapped;
  std::size_t used = 0;  // characters of the current line
  bool is_empty = true;  // it has no word
  while (!text.empty()) {
    const auto word = std::min(text.find_first_not_of(' '), text.size());
    const auto end = std::min(text.find(' ', word), text.size());
    const auto length = count_characters(text.substr(0, end));
    if (!is_empty && used + length > width) {
      wrapped.append("\n").append(indent);
      used = count_characters(indent);
      text.remove_prefix(word);
      is_empty = true;
      continue;
    }
    wrapped += text.substr(0, end);
    used += length;
    text.remove_prefix(end);
    is_empty = false;
  }
  return wrapped;
}

std::string pluralize(bool is_one, std::string_view noun) {
  if (is_one) return std::string(noun);
  if (noun.ends_with("is")) return std::string(noun.substr(0, noun.size() - 2)) + "es";
  if (ends_in_consonant_y(noun)) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  return std::string(noun) + (ends_in_sibilant(noun) ? "es" : "s");
}

bool matches_pattern(std::string_view text, std::string_view pattern) {
  const auto parts = split(pattern, '*');
  if (parts.size() == 1) return text == pattern;
  if (!text.starts_with(parts.front())) return false;
  text.remove_prefix(parts.front().size());
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const auto at = text.find(parts[i]);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + parts[i].size());
  }
  return text.ends_with(parts.back());
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return is_letter_byte(c) || is_digit_byte(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  return "'" + replace_all(text, "'", "'\\''") + "'";
}

std::string escape_controls(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // The control characters U+0080 to U+009F are C2 80 to C2 9F in UTF-8.
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      escaped += fmt::format("\\u{:04X}", next);
      ++i;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      escaped += fmt::format("\\x{:02X}", byte);
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

}  // namespace regard
