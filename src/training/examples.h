// A few validation sentences with their translations, the same ones each time, so that one can
// watch them improve.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/validation.h"

namespace regard {

// Logs `count` sentences spread evenly over the validation pair.
void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count);

}  // namespace regard
