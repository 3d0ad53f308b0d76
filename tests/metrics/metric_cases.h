// The table of sacreBLEU's scores (created by tests/metrics/make_cases.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "base/json.h"
#include "metrics/corpus_metric.h"
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

// Compares the score of each sentence of a corpus with corpus.at(key).
inline void expect_same_sentences(const CorpusMetric& metric, const Json& corpus, const char* key) {
  const auto counts = metric.count(corpus.at("hypotheses"), corpus.at("references"));
  ASSERT_EQ(counts.sentences(), corpus.at(key).size());
  for (std::size_t i = 0; i < counts.sentences(); ++i) {
    SCOPED_TRACE(corpus.at("name").dump() + " " + std::to_string(i));
    expect_same(metric.score(counts.sentence(i)), corpus.at(key).at(i));
  }
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
