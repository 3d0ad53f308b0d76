#include "translation/word_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard::word_alignment_test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::IsEmpty;
using Weights = std::vector<std::vector<float>>;

Alignment links_of(const Weights& weights, const std::vector<std::string>& source,
                   const std::vector<std::string>& target, TokenizerKind kind) {
  Hypothesis hypothesis;
  hypothesis.weights = weights;
  Translation translation;
  translation.source_tokens = source;
  DataOptions options;
  options.tokenizer.kind = kind;
  return align_words(hypothesis, translation, target, options);
}

TEST(WordAlignment, PieceWithSpaceSymbolBeginsAWord) {
  EXPECT_THAT(group_into_words({"▁they", "▁watch", "ing", "▁.", "</s>"}, TokenizerKind::bpe),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3)));
}

TEST(WordAlignment, SingleSpaceSymbolBelongsToTheNextWord) {
  EXPECT_THAT(group_into_words({"▁a", "▁", "z", "q"}, TokenizerKind::unigram),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3)));
}

TEST(WordAlignment, SingleSpaceSymbolAtTheEndIsNoWord) {
  EXPECT_THAT(group_into_words({"▁a", "▁", "</s>"}, TokenizerKind::bpe),
              ElementsAre(ElementsAre(0)));
}

TEST(WordAlignment, PieceOfSeveralWordsBelongsToEach) {
  EXPECT_THAT(group_into_words({"▁out▁of", "f", "▁it"}, TokenizerKind::bpe),
              ElementsAre(ElementsAre(0), ElementsAre(0, 1), ElementsAre(2)));
}

TEST(WordAlignment, SpaceSymbolOfTheTextStaysInItsWord) {
  EXPECT_THAT(word_texts({"▁a", "\uFDD0", "b", "▁c", "</s>"}, TokenizerKind::bpe),
              ElementsAre("a▁b", "c"));
  EXPECT_THAT(word_texts({"a▁b", "c"}, TokenizerKind::word), ElementsAre("a▁b", "c"));
  EXPECT_THAT(word_texts({"a", "▁", "b"}, TokenizerKind::character), ElementsAre("a▁b"));
  EXPECT_THAT(token_labels({"▁a", "\uFDD0", "b"}, TokenizerKind::bpe), ElementsAre("▁a", "▁", "b"));
}

TEST(WordAlignment, UnknownPieceContinuesItsWord) {
  EXPECT_THAT(group_into_words({"▁", "<unk>", "▁b"}, TokenizerKind::bpe),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(WordAlignment, LabelsOfWholeWordsHaveNoSpaceSymbol) {
  EXPECT_THAT(
      token_labels({"▁they", "▁watch", "ing", "▁out▁of", "f", "▁it", "</s>"}, TokenizerKind::bpe),
      ElementsAre("they", "▁watch", "ing", "▁out▁of", "f", "it", "</s>"));
  EXPECT_THAT(token_labels({"a", "b", "</s>"}, TokenizerKind::word), ElementsAre("a", "b", "</s>"));
}

TEST(WordAlignment, TagsBelongToNoWord) {
  EXPECT_THAT(
      group_into_words({"<2fr>", "the", "<2fr>", "cat", "</s>"}, TokenizerKind::word, {0, 2}),
      ElementsAre(ElementsAre(1), ElementsAre(3)));
  EXPECT_THAT(group_into_words({"▁", "<2fr>", "▁wat", "ch", "</s>"}, TokenizerKind::bpe, {0, 1}),
              ElementsAre(ElementsAre(2, 3)));
  EXPECT_THAT(group_into_words({"<2fr>", "</s>"}, TokenizerKind::word, {0}), IsEmpty());
}

TEST(WordAlignment, EachTokenOfAWordVocabularyIsAWord) {
  EXPECT_THAT(group_into_words({"a", "<unk>", "</s>"}, TokenizerKind::word),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(WordAlignment, PartsOfADecomposedWordBelongToIt) {
  const std::vector<std::string> tokens = {"ᄒ", "￭ᅡ", "￭ᆫ", "x", "<unk>", "</s>"};
  const auto words = group_into_words(tokens, TokenizerKind::decomposed);
  EXPECT_THAT(words, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3), ElementsAre(4)));
  EXPECT_THAT(word_texts(tokens, TokenizerKind::decomposed), ElementsAre("한", "x", "<unk>"));
  EXPECT_EQ(group_into_words({"￭ᅡ", "￭ᆫ"}, TokenizerKind::word).size(), 2u);
}

TEST(WordAlignment, EachCharacterOfAScriptWithoutSpacesIsAWord) {
  const std::vector<std::string> tokens = {"▁大猫", "和", "1", "2", "小狗", "。", "</s>"};
  EXPECT_THAT(group_into_words(tokens, TokenizerKind::bpe),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(2, 3),
                          ElementsAre(4), ElementsAre(4), ElementsAre(5)));
  EXPECT_THAT(word_texts(tokens, TokenizerKind::bpe),
              ElementsAre("大", "猫", "和", "12", "小", "狗", "。"));
  EXPECT_THAT(word_texts({"大", "猫", "和", "1", "2"}, TokenizerKind::character),
              ElementsAre("大", "猫", "和", "12"));
  EXPECT_THAT(word_texts({"▁ไม", "่", "มา"}, TokenizerKind::bpe),
              ElementsAre("ไ", "ม่", "ม", "า"));  // a tone mark belongs to its letter
  EXPECT_THAT(word_texts({"▁大", "<unk>", "狗"}, TokenizerKind::bpe),
              ElementsAre("大", "<unk>", "狗"));
  EXPECT_THAT(token_labels(tokens, TokenizerKind::bpe),
              ElementsAre("▁大猫", "和", "1", "2", "小狗", "。", "</s>"));
}

TEST(WordAlignment, SpacesSeparateWordsThatWereSegmented) {
  EXPECT_THAT(word_texts({"▁大猫", "▁和", "▁小", "狗"}, TokenizerKind::bpe),
              ElementsAre("大猫", "和", "小狗"));
  EXPECT_THAT(word_texts({"▁the", "▁猫", "▁sat", "."}, TokenizerKind::bpe),
              ElementsAre("the", "猫", "sat."));
  EXPECT_THAT(word_texts({"▁大猫"}, TokenizerKind::word), ElementsAre("▁大猫"));
}

TEST(WordAlignment, WhiteSpaceSeparatesWordsOfCharacters) {
  EXPECT_THAT(
      group_into_words({" ", "a", "b", " ", "\t", "c", " ", "</s>"}, TokenizerKind::character),
      ElementsAre(ElementsAre(1, 2), ElementsAre(5)));
}

TEST(WordAlignment, OnlyAFinalEndTokenIsIgnored) {
  EXPECT_THAT(group_into_words({"</s>", "a"}, TokenizerKind::word),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(WordAlignment, WeightsAddUpOverSourcePiecesAndAverageOverTargetPieces) {
  const Weights weights{{0.1F, 0.2F, 0.3F, 0.4F},   // first piece of target word 0
                        {0.5F, 0.1F, 0.1F, 0.3F},   // second
                        {0.0F, 0.0F, 0.9F, 0.1F},   // target word 1
                        {0.0F, 0.0F, 0.0F, 1.0F}};  // </s>
  EXPECT_THAT(word_weights(weights, {{0, 1}, {2}}, {{0, 1}, {2}}),
              ElementsAre(ElementsAre(FloatEq(0.45F), FloatEq(0.2F)),
                          ElementsAre(FloatEq(0.0F), FloatEq(0.9F))));
}

TEST(WordAlignment, EachTargetWordIsLinkedWithItsStrongestSourceWord) {
  EXPECT_THAT(hard_alignment({{0.1F, 0.7F}, {0.6F, 0.2F}, {0.1F, 0.2F}}),
              ElementsAre(AlignmentLink{0, 1}, AlignmentLink{1, 0}, AlignmentLink{1, 2}));
}

TEST(WordAlignment, EqualWeightsSelectTheFirstWord) {
  EXPECT_THAT(hard_alignment({{0.1F, 0.4F, 0.4F}}), ElementsAre(AlignmentLink{1, 0}));
}

TEST(WordAlignment, SourceWithoutWordsHasNoLinks) {
  EXPECT_THAT(links_of({{0.5F, 0.5F}}, {" ", "</s>"}, {"a"}, TokenizerKind::character), IsEmpty());
}

TEST(WordAlignment, NoWordLinksToTheEndOfTheSource) {
  const Weights weights{{0.1F, 0.2F, 0.7F}, {0.0F, 0.0F, 1.0F}};
  EXPECT_THAT(links_of(weights, {"▁a", "▁b", "</s>"}, {"▁x", "</s>"}, TokenizerKind::bpe),
              ElementsAre(AlignmentLink{1, 0}));
}

TEST(WordAlignment, PharaohTextCanBeParsed) {
  const Alignment alignment{{0, 1}, {2, 0}, {10, 3}};
  EXPECT_EQ(to_pharaoh(alignment), "0-1 2-0 10-3");
  EXPECT_EQ(parse_alignment(to_pharaoh(alignment), "file", 1).sure, alignment);
  EXPECT_EQ(to_pharaoh({}), "");
}

}  // namespace
}  // namespace regard::word_alignment_test
