// Text in parts.
#pragma once

#include <string_view>
#include <vector>

namespace regard {

// What stands between the separators, empty parts too; one part where there is none. They point
// into the text.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace regard
