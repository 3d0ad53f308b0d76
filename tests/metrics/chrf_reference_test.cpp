// chrF and chrF++ compared with sacreBLEU 2.6.0.
#include "metrics/chrf.h"

#include <gtest/gtest.h>

#include "tests/metrics/metric_cases.h"

namespace regard::chrf_reference_test {
namespace {

ChrfOptions options_of(const Json& row) {
  ChrfOptions options;
  options.word_order = row.at("word_order");
  options.beta = row.at("beta");
  options.lowercase = row.at("lowercase");
  return options;
}

TEST(ChrfReference, CorpusScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("chrf")) {
      SCOPED_TRACE(corpus.at("name").dump() + " " + row.at("signature").dump());
      expect_same(corpus_chrf(corpus.at("hypotheses"), corpus.at("references"), options_of(row)),
                  row.at("score"));
    }
  }
}

TEST(ChrfReference, SentenceScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    SCOPED_TRACE(corpus.at("name").dump());
    const Json& expected = corpus.at("sentence_chrf");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::vector<std::string> references;
      for (const Json& reference : corpus.at("references")) references.push_back(reference.at(i));
      expect_same(sentence_chrf(corpus.at("hypotheses").at(i), references), expected.at(i));
    }
  }
}

TEST(ChrfReference, NameAndSignatureEqualThoseOfSacreBleuExceptTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("chrf")) {
      const ChrfOptions options = options_of(row);
      EXPECT_EQ(chrf_name(options), row.at("name"));
      EXPECT_EQ(without_version(chrf_signature(options, corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

}  // namespace
}  // namespace regard::chrf_reference_test
