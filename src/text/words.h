// The stretches between ASCII white space.
#pragma once

#include <string_view>
#include <vector>

namespace regard {

std::vector<std::string_view> words(std::string_view text);

}  // namespace regard
