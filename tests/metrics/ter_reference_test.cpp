// TER compared with sacreBLEU 2.6.0.
#include "metrics/ter.h"

#include <gtest/gtest.h>

#include "tests/metrics/metric_cases.h"

namespace regard::ter_reference_test {
namespace {

TEST(TerReference, CorpusScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    const std::vector<std::string> hypotheses = corpus.at("hypotheses");
    const References references = corpus.at("references");
    for (const Json& row : corpus.at("ter")) {
      SCOPED_TRACE(corpus.at("name").dump() + " " + row.at("signature").dump());
      const Ter ter(ter_options(row));
      const Json figures = ter.to_json(ter.count(hypotheses, references).sum());
      expect_same(figures.at("score"), row.at("score"));
      EXPECT_EQ(figures.at("edits"), row.at("edits"));
      expect_same(figures.at("reference_length"), row.at("reference_length"));
    }
  }
}

TEST(TerReference, SentenceScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    const Json& expected = corpus.at("sentence_ter");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(corpus.at("name").dump() + " " + std::to_string(i));
      std::vector<std::string> references;
      for (const Json& reference : corpus.at("references")) references.push_back(reference.at(i));
      expect_same(sentence_ter(corpus.at("hypotheses").at(i), references), expected.at(i));
    }
  }
}

TEST(TerReference, SignatureEqualsThatOfSacreBleuExceptTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("ter")) {
      EXPECT_EQ(without_version(ter_signature(ter_options(row), corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

}  // namespace
}  // namespace regard::ter_reference_test
