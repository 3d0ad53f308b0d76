#include "translation/long_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace regard::long_lines_test {
namespace {

using testing::ElementsAre;

TEST(LongLines, ShortLineIsUnchanged) {
  EXPECT_THAT(split_line("  a  b. c ", 3), ElementsAre("  a  b. c "));
  EXPECT_THAT(split_line("", 3), ElementsAre(""));
}

TEST(LongLines, PartsEndAfterSentencesElseClausesElseAnywhere) {
  EXPECT_THAT(split_line("a b. c d, e f g h i j k", 5),
              ElementsAre("a b.", "c d,", "e f g h i", "j k"));
  EXPECT_THAT(split_line("one ! two ? three four", 4), ElementsAre("one ! two ?", "three four"));
  EXPECT_THAT(split_line("he said \"go.\" then went", 4),
              ElementsAre("he said \"go.\"", "then went"));
  EXPECT_THAT(split_line("他 来 了。 我 走 。", 4), ElementsAre("他 来 了。", "我 走 。"));
}

TEST(LongLines, EachPartBeginsWithTheTagsOfTheLine) {
  const std::vector<std::string> symbols = {"<2de>", "<bt>"};
  EXPECT_THAT(split_line("<bt> <2de> a b. c d", 2, symbols),
              ElementsAre("<bt> <2de> a b.", "<bt> <2de> c d"));
  EXPECT_THAT(split_line("<2de> a b", 2, symbols), ElementsAre("<2de> a b"));
  EXPECT_THAT(split_line("a <2de> b", 2, symbols), ElementsAre("a <2de>", "b"));
  EXPECT_THAT(split_line("<2fr> a b", 2, symbols), ElementsAre("<2fr> a", "b"));
}

TEST(LongLines, PartsAreShortEnoughAndKeepAllWords) {
  std::string line;
  for (int i = 0; i < 100; ++i) line += "w" + std::to_string(i) + (i % 7 == 3 ? ". " : "  ");
  for (std::int64_t max_words = 1; max_words < 20; ++max_words) {
    std::string joined;
    for (const auto& part : split_line(line, max_words)) {
      std::int64_t words = 0;
      for (std::size_t i = 0; i < part.size(); ++i) {
        words += part[i] != ' ' && (i == 0 || part[i - 1] == ' ');
      }
      EXPECT_LE(words, max_words);
      joined += part;
    }
    std::string expected = line;
    for (auto* text : {&joined, &expected}) std::erase(*text, ' ');
    EXPECT_EQ(joined, expected);
  }
}

Translation part(const std::string& text, std::vector<std::string> source,
                 std::vector<std::int32_t> tokens, std::vector<std::string> oov_words) {
  Translation translation;
  translation.text = text;
  translation.source_length = static_cast<std::int64_t>(source.size()) - 1;
  translation.source_tokens = std::move(source);
  translation.oov_words = std::move(oov_words);
  Hypothesis hypothesis;
  hypothesis.tokens = std::move(tokens);
  hypothesis.finished = true;
  for (std::size_t t = 0; t <= hypothesis.tokens.size(); ++t) {
    hypothesis.token_log_p.push_back(-1.0 - static_cast<double>(t));
    hypothesis.log_probability += hypothesis.token_log_p.back();
    std::vector<float> row(translation.source_tokens.size(), 0.F);
    row[t % row.size()] = 0.75F;
    row.back() += 0.25F;
    hypothesis.weights.push_back(row);
  }
  hypothesis.score = hypothesis.log_probability / 2;
  translation.hypotheses.push_back(hypothesis);
  return translation;
}

TEST(LongLines, JoinsParts) {
  const auto first = part("x y", {"a", "b", "</s>"}, {4, 10}, {"Bo"});
  const auto second = part("z", {"c", "</s>"}, {10}, {"Cy"});
  const auto whole =
      join_translations(std::array{first, second}, /*target_vocabulary=*/10, TokenizerKind::bpe);
  EXPECT_THAT(whole.source_tokens, ElementsAre("a", "b", "c", "</s>"));
  EXPECT_EQ(whole.source_length, 3);
  EXPECT_THAT(whole.oov_words, ElementsAre("Bo", "Cy"));
  ASSERT_EQ(whole.hypotheses.size(), 1U);
  const auto& hypothesis = whole.hypotheses[0];
  EXPECT_THAT(hypothesis.tokens, ElementsAre(4, 10, 11));
  EXPECT_THAT(hypothesis.token_log_p, ElementsAre(-1, -2 - 3, -1, -2));  // one </s>
  EXPECT_DOUBLE_EQ(hypothesis.log_probability, -6 - 3);
  EXPECT_DOUBLE_EQ(hypothesis.score, -3 - 1.5);
  EXPECT_TRUE(hypothesis.finished);
  ASSERT_EQ(hypothesis.weights.size(), 4U);
  EXPECT_THAT(hypothesis.weights[0], ElementsAre(0.75F, 0, 0, 0.25F));
  EXPECT_THAT(hypothesis.weights[1], ElementsAre(0, 0.75F, 0, 0.25F));
  EXPECT_THAT(hypothesis.weights[2], ElementsAre(0, 0, 0.75F, 0.25F));
  EXPECT_THAT(hypothesis.weights[3], ElementsAre(0, 0, 0, 1));
}

TEST(LongLines, JoinsPartsWithoutSourceTokens) {
  auto first = part("x", {"a", "b", "</s>"}, {4}, {});
  auto second = part("y", {"c", "</s>"}, {5}, {});
  for (auto* each : {&first, &second}) {
    each->source_tokens.clear();
    each->hypotheses[0].weights.clear();
  }
  for (const auto kind : {TokenizerKind::bpe, TokenizerKind::character}) {
    const auto whole = join_translations(std::array{first, second}, 10, kind);
    EXPECT_TRUE(whole.source_tokens.empty());
    EXPECT_EQ(whole.source_length, kind == TokenizerKind::character ? 4 : 3);
    EXPECT_EQ(whole.hypotheses[0].tokens.size(), kind == TokenizerKind::character ? 3 : 2);
  }
}

TEST(LongLines, SinglePartIsUnchanged) {
  const auto only = part("x y", {"a", "b", "</s>"}, {4, 5}, {});
  const auto whole = join_translations(std::array{only}, 10, TokenizerKind::bpe);
  EXPECT_EQ(whole.text, only.text);
  EXPECT_EQ(whole.hypotheses[0].tokens, only.hypotheses[0].tokens);
}

TEST(LongLines, UnfinishedPartMakesTheTranslationUnfinished) {
  auto first = part("x y", {"a", "b", "</s>"}, {4, 5}, {});
  first.hypotheses[0].finished = false;
  first.hypotheses[0].token_log_p.pop_back();
  first.hypotheses[0].weights.pop_back();
  const auto second = part("z", {"c", "</s>"}, {6}, {});
  const auto whole = join_translations(std::array{first, second}, 10, TokenizerKind::bpe);
  EXPECT_FALSE(whole.hypotheses[0].finished);
  EXPECT_EQ(whole.hypotheses[0].weights.size(), 3U);
  EXPECT_EQ(whole.hypotheses[0].token_log_p.size(), 3U);
}

TEST(LongLines, SkipsBlankParts) {
  const auto nonempty = part("x", {"a", "</s>"}, {4}, {});
  const auto whole =
      join_translations(std::array{Translation(), nonempty, Translation()}, 10, TokenizerKind::bpe);
  EXPECT_THAT(whole.source_tokens, ElementsAre("a", "</s>"));
  EXPECT_THAT(whole.hypotheses[0].tokens, ElementsAre(4));
  const std::array blank{Translation(), Translation()};
  EXPECT_TRUE(join_translations(blank, 10, TokenizerKind::bpe).hypotheses.empty());
}

TEST(LongLines, CharactersHaveASpaceBetweenParts) {
  const auto first = part("x", {"a", "</s>"}, {4}, {});
  const auto second = part("y", {"b", "</s>"}, {5}, {});
  const auto whole = join_translations(std::array{first, second}, 10, TokenizerKind::character);
  EXPECT_THAT(whole.source_tokens, ElementsAre("a", " ", "b", "</s>"));
  EXPECT_THAT(whole.hypotheses[0].tokens, ElementsAre(4, 10, 5));
  EXPECT_THAT(whole.oov_words, ElementsAre(" "));
  ASSERT_EQ(whole.hypotheses[0].weights.size(), 4U);
  EXPECT_THAT(whole.hypotheses[0].weights[1], ElementsAre(0, 1, 0, 0));
}

}  // namespace
}  // namespace regard::long_lines_test
