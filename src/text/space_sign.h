// How SentencePiece writes a space.
#pragma once

#include <string_view>

namespace regard {

inline constexpr std::string_view space_sign = "\u2581";  // "▁"

}  // namespace regard
