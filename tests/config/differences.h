// The differences of two configurations as texts.
#pragma once

#include <string>
#include <vector>

#include "config/writer.h"

namespace regard {

inline std::vector<std::string> difference_texts(const Options& a, const Options& b) {
  std::vector<std::string> all;
  for (const auto& difference : option_differences(a, b)) all.push_back(difference.text());
  return all;
}

}  // namespace regard
