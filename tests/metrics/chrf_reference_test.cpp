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
      expect_same(
          corpus_score(Chrf(options_of(row)), corpus.at("hypotheses"), corpus.at("references")),
          row.at("score"));
    }
  }
}

TEST(ChrfReference, SentenceScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    expect_same_sentences(Chrf(), corpus, "sentence_chrf");
  }
}

TEST(ChrfReference, NameAndSignatureEqualThoseOfSacreBleuExceptTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("chrf")) {
      const Chrf chrf(options_of(row));
      EXPECT_EQ(chrf.name(), row.at("name"));
      EXPECT_EQ(without_version(chrf.signature(corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

}  // namespace
}  // namespace regard::chrf_reference_test
