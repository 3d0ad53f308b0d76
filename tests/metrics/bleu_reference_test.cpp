// BLEU compared with sacreBLEU 2.6.0.
#include "metrics/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/metrics/metric_cases.h"

namespace regard::bleu_reference_test {
namespace {

BleuOptions options_of(const Json& row) {
  BleuOptions options;
  options.tokenizer = parse_bleu_tokenizer(row.at("tokenizer").get<std::string>());
  options.smoothing = parse_bleu_smoothing(row.at("smoothing").get<std::string>());
  if (!row.at("smoothing_value").is_null()) options.smoothing_value = row.at("smoothing_value");
  options.lowercase = row.at("lowercase");
  options.effective_order = row.at("effective_order");
  return options;
}

TEST(BleuReference, CorpusScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    const std::vector<std::string> hypotheses = corpus.at("hypotheses");
    const References references = corpus.at("references");
    for (const Json& row : corpus.at("bleu")) {
      SCOPED_TRACE(corpus.at("name").dump() + " " + row.at("signature").dump());
      const BleuScore bleu = corpus_bleu(hypotheses, references, options_of(row));
      expect_same(bleu.score, row.at("score"));
      expect_same(bleu.brevity_penalty, row.at("brevity_penalty"));
      for (std::size_t n = 0; n < bleu_order; ++n) {
        expect_same(bleu.precisions[n], row.at("precisions").at(n));
      }
      EXPECT_EQ(bleu.statistics.system_length, row.at("system_length"));
      EXPECT_EQ(bleu.statistics.reference_length, row.at("reference_length"));
      if (!row.contains("matches")) continue;
      EXPECT_EQ(Json(bleu.statistics.matches), row.at("matches"));
      EXPECT_EQ(Json(bleu.statistics.totals), row.at("totals"));
    }
  }
}

TEST(BleuReference, ScoresInPiecesEqualThoseOfSacreBleu) {
  BleuOptions options;
  options.tokenizer = BleuTokenizer::sentencepiece;
  load_pieces(REGARD_SOURCE_DIR "/" + metric_cases().at("pieces").get<std::string>(), options);
  EXPECT_THAT(bleu_signature(options, 1), testing::HasSubstr("tok:" + options.pieces_name + "|"));
  for (const Json& corpus : metric_cases().at("corpora")) {
    SCOPED_TRACE(corpus.at("name").dump());
    expect_same(corpus_bleu(corpus.at("hypotheses"), corpus.at("references"), options).score,
                corpus.at("bleu_in_pieces"));
  }
}

TEST(BleuReference, SentenceScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    SCOPED_TRACE(corpus.at("name").dump());
    const Json& expected = corpus.at("sentence_bleu");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::vector<std::string> references;
      for (const Json& reference : corpus.at("references")) references.push_back(reference.at(i));
      expect_same(sentence_bleu(corpus.at("hypotheses").at(i), references).score, expected.at(i));
    }
  }
}

TEST(BleuReference, SignatureEqualsThatOfSacreBleuExceptTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("bleu")) {
      EXPECT_EQ(without_version(bleu_signature(options_of(row), corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

}  // namespace
}  // namespace regard::bleu_reference_test
