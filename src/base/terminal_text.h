// Text of anybody's, a corpus's or a model's, as a terminal may be shown it.
#pragma once

#include <string>
#include <string_view>

namespace regard {

// With what a terminal would act upon written out, \x1B: control characters but tabs and line
// feeds, whether the bytes are UTF-8 or not.
std::string for_terminal(std::string_view text);

}  // namespace regard
