// What `regard translate --explain` prints of a line.
#pragma once

#include <cstdint>
#include <string>

#include "translation/explanation.h"

namespace regard {

// A table for each step: the query, each source token with score and weight, the context. Of long
// vectors the first numbers and the length |x|.
std::string explanation_text(std::int64_t line, const std::string& translation,
                             const Explanation& explanation);

}  // namespace regard
