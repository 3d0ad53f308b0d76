// The table of sacreBLEU's figures (made by scripts/make_metric_tables.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "base/json.h"

namespace regard {

inline const Json& metric_cases() {
  static const Json cases =
      Json::parse(std::ifstream(REGARD_SOURCE_DIR "/tests/metrics/cases.json"));
  return cases;
}

// Equal to nine digits, so that rounding may differ but no rule.
inline void expect_same(double found, double wanted) {
  EXPECT_NEAR(found, wanted, 1e-9 * std::max(1e-3, std::abs(wanted)));
}

// A signature up to the version, which differs on purpose.
inline std::string without_version(const std::string& signature) {
  return signature.substr(0, signature.find("version:"));
}

}  // namespace regard
