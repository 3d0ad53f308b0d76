// BLEU compared with sacreBLEU 2.6.0.
#include "metrics/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/choice.h"
#include "tests/metrics/metric_cases.h"

namespace regard::bleu_reference_test {
namespace {

BleuOptions options_of(const Json& row) {
  BleuOptions options;
  options.tokenizer = find_choice<BleuTokenizer>(row.at("tokenizer").get<std::string>()).value();
  options.smoothing = find_choice<BleuSmoothing>(row.at("smoothing").get<std::string>()).value();
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
      const Bleu bleu(options_of(row));
      const auto sums = bleu.count(hypotheses, references).sum();
      const Json figures = bleu.to_json(sums);
      expect_same(figures.at("score"), row.at("score"));
      expect_same(figures.at("brevity_penalty"), row.at("brevity_penalty"));
      for (std::size_t n = 0; n < bleu_order; ++n) {
        expect_same(figures.at("precisions").at(n), row.at("precisions").at(n));
      }
      EXPECT_EQ(figures.at("system_length"), row.at("system_length"));
      EXPECT_EQ(figures.at("reference_length"), row.at("reference_length"));
      if (!row.contains("matches")) continue;
      for (std::size_t n = 0; n < bleu_order; ++n) {
        EXPECT_EQ(sums[bleu_matches + n], row.at("matches").at(n));
        EXPECT_EQ(sums[bleu_totals + n], row.at("totals").at(n));
      }
    }
  }
}

TEST(BleuReference, ScoresInPiecesEqualThoseOfSacreBleu) {
  BleuOptions options;
  options.tokenizer = BleuTokenizer::sentencepiece;
  load_pieces(REGARD_SOURCE_DIR "/" + metric_cases().at("pieces").get<std::string>(), options);
  EXPECT_THAT(Bleu(options).signature(1), testing::HasSubstr("tok:" + options.pieces_name + "|"));
  for (const Json& corpus : metric_cases().at("corpora")) {
    SCOPED_TRACE(corpus.at("name").dump());
    expect_same(corpus_score(Bleu(options), corpus.at("hypotheses"), corpus.at("references")),
                corpus.at("bleu_in_pieces"));
  }
}

TEST(BleuReference, SentenceScoresEqualThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    expect_same_sentences(Bleu({.effective_order = true}), corpus, "sentence_bleu");
  }
}

TEST(BleuReference, SignatureEqualsThatOfSacreBleuExceptTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("bleu")) {
      EXPECT_EQ(without_version(Bleu(options_of(row)).signature(corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

}  // namespace
}  // namespace regard::bleu_reference_test
