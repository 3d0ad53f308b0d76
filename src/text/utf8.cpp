#include "text/utf8.h"

#include <algorithm>
#include <cstdint>

#include "text/unicode.h"

namespace regard {
namespace {

// True for U+0000 to U+001F and U+007F to U+009F.
bool is_control(std::string_view point) {
  const auto byte = static_cast<unsigned char>(point[0]);
  return byte < 0x20 || byte == 0x7F ||
         (byte == 0xC2 && static_cast<unsigned char>(point[1]) < 0xA0);
}

// The length of a sequence and the bounds of its second byte, by its first byte (table 3-7).
struct Lead {
  std::size_t length;
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

}  // namespace regard
