#include "report/xml.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace regard {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct Decoded {
  char32_t code = replacement;
  std::size_t bytes = 1;
};

// The character at the start of `text`; U+FFFD and one byte where that is not UTF-8.
Decoded decode(std::string_view text) {
  static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    code = (code << 6) | (next & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest[bytes] || code > 0x10FFFF || surrogate) return {};
  return {code, bytes};
}

bool allowed_in_xml(char32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xFFFE && code != 0xFFFF && !(code >= 0x7F && code < 0xA0);
}

// Combining marks, joiners and variation selectors: no width of their own.
bool is_zero_width(char32_t code) {
  return (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0x1F3FB && code <= 0x1F3FF);
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    const bool broken = next.code == replacement || !allowed_in_xml(next.code);
    switch (next.code) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += broken ? "\uFFFD" : text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return escaped;
}

std::string format_coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double estimate_text_width(std::string_view text) {
  double width = 0.0;
  while (!text.empty()) {
    const Decoded next = decode(text);
    text.remove_prefix(next.bytes);
    if (is_zero_width(next.code)) continue;
    const bool wide = next.code >= 0x1100 && (next.code < 0x1E00 || next.code >= 0x2E80);
    const bool broad =
        next.code == 'm' || next.code == 'w' || (next.code >= 'A' && next.code <= 'Z');
    width += wide ? 1.2 : broad ? 0.78 : 0.58;
  }
  return width;
}

}  // namespace regard
