#include "report/xml.h"

#include <fmt/format.h>

#include <cmath>

#include "text/unicode.h"

namespace regard {
namespace {

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
  for (const char32_t code : decode_utf8(text)) {
    switch (code) {
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
        escaped += allowed_in_xml(code) ? encode_utf8({&code, 1}) : "\uFFFD";
    }
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
  for (const char32_t code : decode_utf8(text)) {
    if (is_zero_width(code)) continue;
    const bool wide = code >= 0x1100 && (code < 0x1E00 || code >= 0x2E80);
    const bool broad = code == 'm' || code == 'w' || (code >= 'A' && code <= 'Z');
    width += wide ? 1.2 : broad ? 0.78 : 0.58;
  }
  return width;
}

}  // namespace regard
