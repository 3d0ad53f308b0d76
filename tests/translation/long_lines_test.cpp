#include "translation/long_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "data/corpus.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/small_corpus.h"
#include "text/tokenizer.h"

namespace regard::long_lines_test {
namespace {

using testing::ElementsAre;

// Splits lines of words for a model that was trained on lines of at most `long_source` words, of
// which a share `several` holds several sentences.
std::vector<std::string> split_line(const std::string& line, std::int64_t max_words,
                                    std::vector<std::string> user_symbols = {},
                                    const LineLengths& lengths = {}) {
  TextCodec codec;
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  codec.source = load_tokenizer(options, "a\nb\n", "words");
  codec.lengths = lengths;
  return LineSplitter(codec, std::move(user_symbols), "en").split(line, max_words);
}

TEST(LongLines, ShortLineIsUnchanged) {
  EXPECT_THAT(split_line("  a  b. c ", 3), ElementsAre("  a  b. c "));
  EXPECT_THAT(split_line("", 3), ElementsAre(""));
}

TEST(LongLines, PartsEndAfterSentencesElseClausesElseAnywhere) {
  EXPECT_THAT(split_line("a b. c d, e f g h i j k", 5),
              ElementsAre("a b.", "c d,", "e f g h i", "j k"));
  EXPECT_THAT(split_line("he said \"go.\" then went", 4),
              ElementsAre("he said \"go.\"", "then went"));
  EXPECT_THAT(split_line("他 来 了。 我 走 。", 4), ElementsAre("他 来 了。", "我 走 。"));
}

TEST(LongLines, APartHoldsOneSentence) {
  EXPECT_THAT(split_line("one ! two ? three four", 4), ElementsAre("one !", "two ?", "three four"));
  EXPECT_THAT(
      split_line("A dog runs. A cat sits. Mr. Smith sees both of them, and he smiles.", 6),
      ElementsAre("A dog runs.", "A cat sits.", "Mr. Smith sees both of them,", "and he smiles."));
  EXPECT_THAT(split_line("a dog . a cat . it runs .", 8),
              ElementsAre("a dog .", "a cat .", "it runs ."));
  EXPECT_THAT(split_line("大猫和小狗。小狗在哪里？ 在 这里！", 2),
              ElementsAre("大猫和小狗。", "小狗在哪里？", "在 这里！"));
}

TEST(LongLines, APartHoldsSeveralSentencesIfTrainingLinesDid) {
  const LineLengths paragraphs{.long_source = 5, .low_ratio = 0.5, .several = 0.6};
  EXPECT_THAT(
      split_line("One. Two. A third one. A fourth one is long, very long.", 5, {}, paragraphs),
      ElementsAre("One. Two. A third one.", "A fourth one is long,", "very long."));
  EXPECT_THAT(
      split_line("One. Two. A third one. A fourth one is long, very long.", 0, {}, paragraphs),
      ElementsAre("One. Two. A third one.", "A fourth one is long, very long."));
}

TEST(LongLines, LinesOfSeveralSentencesAreSplitUnlessThoseOfTrainingWereSo) {
  const LineLengths lengths{.long_source = 4, .low_ratio = 0.5, .several = 0.05};
  EXPECT_THAT(split_line("A dog. A cat.", 0, {}, lengths), ElementsAre("A dog.", "A cat."));
  const LineLengths paragraphs{.long_source = 4, .low_ratio = 0.5, .several = 0.6};
  EXPECT_THAT(split_line("A dog. A cat.", 0, {}, paragraphs), ElementsAre("A dog. A cat."));
  EXPECT_THAT(split_line("<2de> A dog. A cat runs.", 0, {"<2de>"}, lengths),
              ElementsAre("<2de> A dog.", "<2de> A cat runs."));
  EXPECT_THAT(split_line("one sentence that is long", 0, {}, lengths),
              ElementsAre("one sentence that is long"));
  EXPECT_THAT(split_line("A dog. A cat runs.", 0), ElementsAre("A dog. A cat runs."));  // not known
}

TEST(LongLines, EachPartBeginsWithTheTagsOfTheLine) {
  const std::vector<std::string> symbols = {"<2de>", "<bt>"};
  EXPECT_THAT(split_line("<bt> <2de> a b. c d", 2, symbols),
              ElementsAre("<bt> <2de> a b.", "<bt> <2de> c d"));
  EXPECT_THAT(split_line("<2de> a b", 2, symbols), ElementsAre("<2de> a b"));
  EXPECT_THAT(split_line("a <2de> b", 2, symbols), ElementsAre("a <2de>", "b"));
  EXPECT_THAT(split_line("<2fr> a b", 2, symbols), ElementsAre("<2fr> a", "b"));
}

TEST(LineLengths, OfAFewPairsAreNotKnown) {
  const ScratchFolder folder;
  DataOptions options;
  options.train.resize(1);
  options.train[0].src = folder.write("s.en", "a b\na\n");
  options.train[0].trg = folder.write("t.fr", "a\na\n");
  options.tokenizer.kind = TokenizerKind::word;
  const auto corpus = training_corpus(options, make_text_codec(options));
  EXPECT_EQ(line_lengths(corpus, "en").long_source, 0);
}

TEST(LineLengths, AreThoseOfNinetyNineOfAHundredPairs) {
  const ScratchFolder folder;
  std::string source;
  std::string target;
  for (int i = 1; i <= 200; ++i) {  // 198 pairs of 4 and 2 words, and two others
    source += i == 77 ? "a b a b a b a b a b\n" : i == 150 ? "a\n" : "a . B .\n";
    target += i == 77 ? "a\n" : "a b\n";
  }
  DataOptions options;
  options.train.resize(1);
  options.train[0].src = folder.write("s.en", source);
  options.train[0].trg = folder.write("t.fr", target);
  options.tokenizer.kind = TokenizerKind::word;
  options.max_ratio = 0;
  const auto corpus = training_corpus(options, make_text_codec(options));
  const auto lengths = line_lengths(corpus, "en");
  EXPECT_EQ(lengths.long_source, 4);
  EXPECT_EQ(lengths.low_ratio, 0.5);
  EXPECT_NEAR(lengths.several, 0.99, 1e-12);
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

// Tokens 4 to 9 are a to f.
TextCodec codec() {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  TextCodec codec;
  codec.source = codec.target = load_tokenizer(options, "a\nb\nc\nd\ne\nf\n", "words");
  return codec;
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
  const auto whole = join_translations(std::array{first, second}, codec(), TokenizerKind::bpe);
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
    const auto whole = join_translations(std::array{first, second}, codec(), kind);
    EXPECT_TRUE(whole.source_tokens.empty());
    EXPECT_EQ(whole.source_length, kind == TokenizerKind::character ? 4 : 3);
    EXPECT_EQ(whole.hypotheses[0].tokens.size(), kind == TokenizerKind::character ? 3 : 2);
  }
}

TEST(LongLines, SinglePartIsUnchanged) {
  const auto only = part("x y", {"a", "b", "</s>"}, {4, 5}, {});
  const auto whole = join_translations(std::array{only}, codec(), TokenizerKind::bpe);
  EXPECT_EQ(whole.text, only.text);
  EXPECT_EQ(whole.hypotheses[0].tokens, only.hypotheses[0].tokens);
}

TEST(LongLines, UnfinishedPartMakesTheTranslationUnfinished) {
  auto first = part("x y", {"a", "b", "</s>"}, {4, 5}, {});
  first.hypotheses[0].finished = false;
  first.hypotheses[0].token_log_p.pop_back();
  first.hypotheses[0].weights.pop_back();
  const auto second = part("z", {"c", "</s>"}, {6}, {});
  const auto whole = join_translations(std::array{first, second}, codec(), TokenizerKind::bpe);
  EXPECT_FALSE(whole.hypotheses[0].finished);
  EXPECT_EQ(whole.hypotheses[0].weights.size(), 3U);
  EXPECT_EQ(whole.hypotheses[0].token_log_p.size(), 3U);
}

TEST(LongLines, SkipsBlankParts) {
  const auto nonempty = part("x", {"a", "</s>"}, {4}, {});
  const auto whole = join_translations(std::array{Translation(), nonempty, Translation()}, codec(),
                                       TokenizerKind::bpe);
  EXPECT_THAT(whole.source_tokens, ElementsAre("a", "</s>"));
  EXPECT_THAT(whole.hypotheses[0].tokens, ElementsAre(4));
  const std::array blank{Translation(), Translation()};
  EXPECT_TRUE(join_translations(blank, codec(), TokenizerKind::bpe).hypotheses.empty());
}

TEST(LongLines, CharactersHaveASpaceBetweenParts) {
  const auto first = part("x", {"a", "</s>"}, {4}, {});
  const auto second = part("y", {"b", "</s>"}, {5}, {});
  const auto whole =
      join_translations(std::array{first, second}, codec(), TokenizerKind::character);
  EXPECT_THAT(whole.source_tokens, ElementsAre("a", " ", "b", "</s>"));
  EXPECT_THAT(whole.hypotheses[0].tokens, ElementsAre(4, 10, 5));
  EXPECT_THAT(whole.oov_words, ElementsAre(" "));
  ASSERT_EQ(whole.hypotheses[0].weights.size(), 4U);
  EXPECT_THAT(whole.hypotheses[0].weights[1], ElementsAre(0, 1, 0, 0));
}

TEST(LongLines, PartsOfChineseHaveNoSpaceBetweenThem) {
  const auto first = part("", {"▁大", "猫。", "</s>"}, {10, 11}, {"▁大", "猫。"});
  const auto second = part("", {"▁", "小狗", "</s>"}, {10}, {"▁小狗"});
  const auto whole = join_translations(std::array{first, second}, codec(), TokenizerKind::bpe);
  EXPECT_THAT(whole.source_tokens, ElementsAre("▁大", "猫。", "", "小狗", "</s>"));
  const auto tokens_of = [&](const Translation& translation) {
    std::vector<std::string> texts;
    for (const auto id : translation.hypotheses[0].tokens) {
      texts.push_back(codec().target_token(id, translation.oov_words));
    }
    return texts;
  };
  EXPECT_THAT(tokens_of(whole), ElementsAre("▁大", "猫。", "小狗"));
  EXPECT_EQ(whole.hypotheses[0].weights.size(), 4U);
  // Only the target.
  const auto english = part("", {"▁A", "▁dog.", "</s>"}, {10}, {"▁小狗"});
  EXPECT_THAT(
      join_translations(std::array{first, english}, codec(), TokenizerKind::bpe).source_tokens,
      ElementsAre("▁大", "猫。", "A", "▁dog.", "</s>"));
  const auto plain = part("", {"▁x", "</s>"}, {10}, {"▁猫"});
  EXPECT_THAT(tokens_of(join_translations(std::array{plain, english}, codec(), TokenizerKind::bpe)),
              ElementsAre("▁猫", "小狗"));
  EXPECT_THAT(
      join_translations(std::array{plain, english}, codec(), TokenizerKind::bpe).source_tokens,
      ElementsAre("▁x", "▁A", "▁dog.", "</s>"));
}

TEST(LongLines, CharactersOfChineseHaveNoSpaceBetweenParts) {
  const auto chinese = part("", {"x", "</s>"}, {10}, {"狗"});
  const auto whole =
      join_translations(std::array{chinese, chinese}, codec(), TokenizerKind::character);
  EXPECT_THAT(whole.source_tokens, ElementsAre("x", " ", "x", "</s>"));
  EXPECT_THAT(whole.hypotheses[0].tokens, ElementsAre(10, 11));
  const auto back = part("", {"狗", "</s>"}, {4}, {});
  const auto joined = join_translations(std::array{back, back}, codec(), TokenizerKind::character);
  EXPECT_THAT(joined.source_tokens, ElementsAre("狗", "狗", "</s>"));
  EXPECT_THAT(joined.hypotheses[0].tokens, ElementsAre(4, 10, 4));
  EXPECT_THAT(joined.hypotheses[0].weights[1], ElementsAre(0, 0, 1));
}

}  // namespace
}  // namespace regard::long_lines_test
