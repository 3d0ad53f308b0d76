#include "translation/unknown_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::unknown_words_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// <pad> <unk> <s> </s> le chat
TextCodec word_codec() {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  TextCodec codec;
  codec.source = load_tokenizer(options, "the\ncat\n", "source");
  codec.target = load_tokenizer(options, "le\nchat\n", "target");
  return codec;
}

// "le <unk> <unk>" for "the Bayeux cat". The first <unk> attends to "Bayeux", the second mostly to
// </s>.
Translation with_unknown() {
  Translation translation;
  translation.source_tokens = {"the", "Bayeux", "cat", "</s>"};
  Hypothesis hypothesis;
  hypothesis.tokens = {4, 1, 1};
  hypothesis.finished = true;
  hypothesis.weights = {{1, 0, 0, 0}, {0.1F, 0.6F, 0.3F, 0}, {0, 0.1F, 0.3F, 0.6F}, {0, 0, 0, 1}};
  translation.hypotheses = {hypothesis, hypothesis};
  return translation;
}

std::string file_with(const std::string& text) {
  static const ScratchFolder folder;
  return folder.write("dictionary", text);
}

TEST(UnknownWords, AreReplacedByTheAttendedSourceWords) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  UnknownWords("", *codec.source, TokenizerKind::word).replace(codec, translation);
  for (const auto& hypothesis : translation.hypotheses) {
    EXPECT_EQ(codec.decode(hypothesis.tokens, translation.oov_words), "le Bayeux cat");
  }
}

TEST(UnknownWords, AreNeverReplacedByATag) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  translation.source_tokens[1] = "<2fr>";
  translation.tags = {1};
  UnknownWords("", *codec.source, TokenizerKind::word).replace(codec, translation);
  for (const auto& hypothesis : translation.hypotheses) {
    EXPECT_EQ(codec.decode(hypothesis.tokens, translation.oov_words), "le cat cat");
  }
}

TEST(UnknownWords, StayWithoutAttentionOnAWord) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  for (auto& hypothesis : translation.hypotheses) {
    hypothesis.weights[1] = {0, 0, 0, 1};  // only </s>
    hypothesis.weights[2] = {0, 0, 0, 0};  // nothing
  }
  UnknownWords("", *codec.source, TokenizerKind::word).replace(codec, translation);
  EXPECT_THAT(translation.hypotheses[0].tokens, ElementsAre(4, 1, 1));
  EXPECT_TRUE(translation.oov_words.empty());
}

TEST(UnknownWords, AreTranslatedByTheDictionary) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  UnknownWords(file_with("cat\tle félin\n\ncat\tminou\n"), *codec.source, TokenizerKind::word)
      .replace(codec, translation);
  EXPECT_EQ(codec.decode(translation.hypotheses[0].tokens, translation.oov_words),
            "le Bayeux le félin");
}

TEST(UnknownWords, EachWordOfATranslationIsAToken) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  for (auto& hypothesis : translation.hypotheses) hypothesis.token_log_p = {-1, -2, -3, -4};
  UnknownWords(file_with("Bayeux\tla  ville de Bayeux\n"), *codec.source, TokenizerKind::word)
      .replace(codec, translation);
  const auto& hypothesis = translation.hypotheses[1];
  EXPECT_EQ(codec.decode(hypothesis.tokens, translation.oov_words), "le la ville de Bayeux cat");
  EXPECT_THAT(hypothesis.token_log_p, ElementsAre(-1, -2, 0, 0, 0, -3, -4));
  ASSERT_EQ(hypothesis.weights.size(), 7);
  for (std::size_t t = 1; t < 5; ++t) EXPECT_EQ(hypothesis.weights[t][1], 0.6F);
}

TEST(UnknownWords, SubWordsKeepTheSpaceSymbol) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  translation.source_tokens = {"▁the", "▁Bayeux", "▁cat", "</s>"};
  UnknownWords words(file_with("Bayeux\tla ville\n"), *codec.source, TokenizerKind::bpe);
  words.replace(codec, translation);
  EXPECT_EQ(translation.oov_words[0], "▁la");
  EXPECT_EQ(translation.oov_words[1], "▁ville");
}

TEST(UnknownWords, ASpaceSymbolOfTheTextIsACharacterOfItsWord) {
  for (const auto& [kind, token] : {std::pair(TokenizerKind::word, "\u2581x"),
                                    std::pair(TokenizerKind::bpe, "\u2581\uFDD0x")}) {
    const auto codec = word_codec();
    auto translation = with_unknown();
    translation.source_tokens[1] = token;
    UnknownWords(file_with("x\tno\n\u2581x\ty\u2581\n"), *codec.source, kind)
        .replace(codec, translation);
    EXPECT_EQ(translation.oov_words[0], kind == TokenizerKind::word ? "y\u2581" : "\u2581y\uFDD0");
  }
}

TEST(UnknownWords, OtherTokensAreUnchanged) {
  const auto codec = word_codec();
  auto translation = with_unknown();
  for (auto& hypothesis : translation.hypotheses) hypothesis.tokens = {4, 5, 5};
  UnknownWords("", *codec.source, TokenizerKind::word).replace(codec, translation);
  EXPECT_THAT(translation.hypotheses[0].tokens, ElementsAre(4, 5, 5));
  EXPECT_TRUE(translation.oov_words.empty());
}

TEST(UnknownWords, InvalidDictionaryLineIsAnErrorWithItsNumber) {
  for (const std::string line :
       {"cat", "\tchat", "cat\t", "cat\t ", "cat\tle\tchat", "cat\tle ||| chat"}) {
    const auto path = file_with("a\tun\n" + line + "\n");
    EXPECT_THAT(message_of<InputError>(
                    [&] { UnknownWords(path, *word_codec().source, TokenizerKind::word); }),
                HasSubstr(":2: found `"))
        << line;
  }
}

}  // namespace
}  // namespace regard::unknown_words_test
