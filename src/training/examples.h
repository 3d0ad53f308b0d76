// A few validation sentences with their translations, the same ones each time, so that one can
// watch them improve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "training/validation.h"

namespace regard {

// `count` lines, or all, spread evenly over so many.
std::vector<std::size_t> spread(std::size_t lines, std::size_t count);

// Logs `count` sentences spread evenly over the validation pair.
void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count);

}  // namespace regard
