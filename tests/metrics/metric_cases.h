// The table of sacreBLEU's scores (created by tests/metrics/make_cases.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "base/json.h"
#include "metrics/metric_tokenizers.h"

namespace regard {

inline const Json& metric_cases() {
  static const Json cases =
      Json::parse(std::ifstream(REGARD_SOURCE_DIR "/tests/metrics/cases.json"));
  return cases;
}

// Expects equality up to nine digits: the rounding may differ.
inline void expect_same(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * std::max(1e-3, std::abs(expected)));
}

// Returns a signature without its version, which differs on purpose.
inline std::string without_version(const std::string& signature) {
  return signature.substr(0, signature.find("version:"));
}

inline TerOptions ter_options(const Json& row) {
  const Json& options = row.at("options");
  return {options.at("normalized"), options.at("no_punct"), options.at("asian_support"),
          options.at("case_sensitive")};
}

}  // namespace regard
