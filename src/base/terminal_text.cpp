#include "base/terminal_text.h"

#include <fmt/format.h>

namespace regard {

std::string for_terminal(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // In UTF-8 U+0080 to U+009F, which are controls as well, are C2 80 to C2 9F.
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += fmt::format("\\u{:04X}", next);
      ++i;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02X}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace regard
