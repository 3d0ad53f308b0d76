#include "text/plain_tokenizers.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/text/lines.h"
#include "text/vocabulary.h"

namespace regard::plain_tokenizers_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TokenizerOptions options_of(TokenizerKind kind) {
  TokenizerOptions options;
  options.kind = kind;
  return options;
}

std::unique_ptr<Tokenizer> trained(TokenizerKind kind, std::vector<std::string> lines) {
  return train_tokenizer(options_of(kind), lines_of(std::move(lines)));
}

std::string load_error(TokenizerKind kind, std::string_view bytes) {
  return message_of<InputError>([&] { load_tokenizer(options_of(kind), bytes, "list.txt"); });
}

TEST(WordTokenizer, SplitsAtAsciiWhiteSpaceAndJoinsWithOneSpace) {
  const auto tokenizer = trained(TokenizerKind::word, {"the  cat\tsat", "the cat", "the"});
  EXPECT_THAT(tokenizer->encode(" the \t cat "), ElementsAre(4, 5));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" the \t sat ")), "the sat");
  EXPECT_TRUE(tokenizer->encode(" \t ").empty());
}

TEST(WordTokenizer, NoBreakSpaceIsPartOfAWord) {
  const auto tokenizer = trained(TokenizerKind::word, {"10\u00A0km"});
  EXPECT_EQ(tokenizer->encode("10\u00A0km").size(), 1u);
}

TEST(WordTokenizer, DecodesUnknownWordsAndSkipsOtherSpecialIds) {
  const auto tokenizer = trained(TokenizerKind::word, {"a b"});
  EXPECT_THAT(tokenizer->encode("a </s> x"), ElementsAre(4, unk_id, unk_id));
  const std::vector<std::int32_t> ids = {bos_id, 4, unk_id, 5, eos_id, pad_id};
  EXPECT_EQ(tokenizer->decode(ids), "a <unk> b");
}

TEST(CharacterTokenizer, RoundTripsTrainingText) {
  const std::string text = " e\u0301  ½ 🙂\tשלום \u2028 ";
  const auto tokenizer = trained(TokenizerKind::character, {text});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  EXPECT_EQ(tokenizer->encode("🙂🙂").size(), 2u);
  EXPECT_THAT(tokenizer->encode("漢"), ElementsAre(unk_id));
}

TEST(VocabularyTokenizer, SurvivesSavingAndLoading) {
  for (const TokenizerKind kind : {TokenizerKind::word, TokenizerKind::character}) {
    const auto saved = trained(kind, {"the cat sat on the mat", "les chats", "\u2581 <s>"});
    const auto loaded = load_tokenizer(options_of(kind), saved->serialized(), "list.txt");
    EXPECT_EQ(loaded->serialized(), saved->serialized());
    EXPECT_EQ(loaded->encode("the mat"), saved->encode("the mat"));
    EXPECT_EQ(loaded->size(), saved->size());
  }
}

TEST(VocabularyTokenizer, SampleReturnsTheOnlySegmentation) {
  const auto tokenizer = trained(TokenizerKind::word, {"a b"});
  Random random(1);
  EXPECT_EQ(tokenizer->sample("b a", 0.5, random), tokenizer->encode("b a"));
}

TEST(VocabularyTokenizer, LimitCountsTheSpecialTokens) {
  TokenizerOptions options = options_of(TokenizerKind::word);
  options.vocabulary_size = 6;
  EXPECT_EQ(train_tokenizer(options, lines_of({"a b c d"}))->size(), 6);
}

TEST(VocabularyTokenizer, NoTextAndNoFrequentTokenAreErrors) {
  EXPECT_THROW(trained(TokenizerKind::word, {"", "  "}), InputError);
  TokenizerOptions options = options_of(TokenizerKind::word);
  options.min_frequency = 3;
  EXPECT_THROW(train_tokenizer(options, lines_of({"a b"})), ConfigError);
}

TEST(VocabularyTokenizer, EntriesThatCannotOccurAreErrors) {
  EXPECT_THAT(load_error(TokenizerKind::word, "the\t12\n"),
              HasSubstr("list.txt:1: 'the\t12' contains"));
  EXPECT_THAT(load_error(TokenizerKind::character, "a\nab\n"), HasSubstr("list.txt:2: 'ab' is"));
  EXPECT_THAT(load_error(TokenizerKind::word, ""), HasSubstr("list.txt: found no tokens"));
}

TEST(NumbersTokenizer, ReadsVectorsOfItsWidth) {
  const auto one = make_numbers_tokenizer(1);
  const auto two = make_numbers_tokenizer(2);
  EXPECT_THAT(one->numbers(" 0.5\t-2e3 7"), ElementsAre(0.5F, 0, -2000.0F, 0, 7.0F, 0, 0, 1));
  EXPECT_THAT(two->numbers("0.5,1 -2,3"), ElementsAre(0.5F, 1.0F, 0, -2.0F, 3.0F, 0, 0, 0, 1));
  EXPECT_EQ(two->encode("0.5,1 -2,3").size(), 2U);
  EXPECT_THAT(two->pieces("0.5,1 -2,3"), ElementsAre("0.5,1", "-2,3"));
  EXPECT_TRUE(two->encode("").empty());
  EXPECT_THAT(two->numbers(""), ElementsAre(0, 0, 1));
}

TEST(NumbersTokenizer, ErrorsNameTheWord) {
  const auto two = make_numbers_tokenizer(2);
  for (const std::string word : {"a,b", "1,", ",1", "1,nan", "1,inf", "1;2", "0x1,2"}) {
    EXPECT_THAT(message_of<InputError>([&] { two->numbers("1,2 " + word); }),
                HasSubstr("`" + word + "`"));
  }
  EXPECT_THAT(message_of<InputError>([&] { two->numbers("1"); }),
              HasSubstr("`1` has 1 number, expected 2"));
  EXPECT_THAT(message_of<InputError>([&] { two->numbers("1,2,3"); }),
              HasSubstr("has 3 numbers, expected 2"));
}

TEST(PositionsTokenizer, CountsFromZeroAfterTheSpecialTokens) {
  const auto positions = make_positions_tokenizer();
  const auto ids = positions->encode("2 0 11");
  EXPECT_THAT(ids, ElementsAre(6, 4, 15));
  EXPECT_EQ(positions->decode(ids), "2 0 11");
  EXPECT_EQ(positions->token(6), "2");
  EXPECT_EQ(positions->token(3), "</s>");
}

TEST(PositionsTokenizer, ErrorsNameTheWord) {
  const auto positions = make_positions_tokenizer();
  for (const std::string word : {"-1", "one", "1.0", "2147483647", "99999999999"}) {
    EXPECT_THAT(message_of<InputError>([&] { positions->encode("0 " + word); }),
                HasSubstr("`" + word + "`"));
  }
}

}  // namespace
}  // namespace regard::plain_tokenizers_test
