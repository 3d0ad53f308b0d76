// TER and its tokens against sacreBLEU 2.6.0.
#include "metrics/ter.h"

#include <gtest/gtest.h>

#include "tests/metrics/metric_cases.h"
#include "text/unicode.h"

namespace regard {
namespace {

TerOptions options_of(const Json& row) {
  const Json& options = row.at("options");
  return {options.at("normalized"), options.at("no_punct"), options.at("asian_support"),
          options.at("case_sensitive")};
}

TEST(TerReference, CorpusFiguresAreThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    const std::vector<std::string> hypotheses = corpus.at("hypotheses");
    const References references = corpus.at("references");
    for (const Json& row : corpus.at("ter")) {
      SCOPED_TRACE(corpus.at("name").dump() + " " + row.at("signature").dump());
      const Ter ter(options_of(row));
      const Json figures = ter.figures(ter.count(hypotheses, references).sum());
      expect_same(figures.at("score"), row.at("score"));
      EXPECT_EQ(figures.at("edits"), row.at("edits"));
      expect_same(figures.at("reference_length"), row.at("reference_length"));
    }
  }
}

TEST(TerReference, SentenceFiguresAreThoseOfSacreBleu) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    const Json& wanted = corpus.at("sentence_ter");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      SCOPED_TRACE(corpus.at("name").dump() + " " + std::to_string(i));
      std::vector<std::string> references;
      for (const Json& reference : corpus.at("references")) references.push_back(reference.at(i));
      expect_same(sentence_ter(corpus.at("hypotheses").at(i), references), wanted.at(i));
    }
  }
}

TEST(TerReference, SignatureIsThatOfSacreBleuButForTheVersion) {
  for (const Json& corpus : metric_cases().at("corpora")) {
    for (const Json& row : corpus.at("ter")) {
      EXPECT_EQ(without_version(ter_signature(options_of(row), corpus.at("references").size())),
                without_version(row.at("signature")));
    }
  }
}

TEST(TerReference, TokensAreThoseOfSacreBleu) {
  for (const Json& row : metric_cases().at("ter_tokens")) {
    SCOPED_TRACE(row.dump());
    std::u32string line = decode_utf8(row.at("line").get<std::string>());
    while (!line.empty() && is_space(line.back())) line.pop_back();
    const std::u32string spaced = tokenize_for_ter(line, options_of(row));
    std::string tokens;
    for (std::u32string_view token : split_words(spaced)) {
      if (!tokens.empty()) tokens += ' ';
      tokens += encode_utf8(token);
    }
    EXPECT_EQ(tokens, row.at("tokens"));
  }
}

}  // namespace
}  // namespace regard
