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
    expect_same_sentences(Ter(), corpus, "sentence_ter");
  }
}

TEST(TerReference, SignatureEqualsThatOfSacreBleuExceptTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("ter")) {
      EXPECT_EQ(without_version(Ter(ter_options(row)).signature(corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

}  // namespace
}  // namespace regard::ter_reference_test
