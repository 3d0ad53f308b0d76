#include "text/tokenizer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/random.h"
#include "tests/text/lines.h"
#include "tests/text/sentencepiece_lines.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard::tokenizer_test {
namespace {

using testing::ElementsAre;

TEST(LowercaseTokenizer, LowersTrainingTextAndInput) {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  options.lowercase = true;
  const auto tokenizer = train_tokenizer(options, lines_of({"ÉTÉ Été"}));
  EXPECT_EQ(tokenizer->size(), 5);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("ÉTé")), "été");
  const auto loaded = load_tokenizer(options, tokenizer->serialized(), "list.txt");
  EXPECT_THAT(loaded->encode("ÉTÉ"), ElementsAre(4));
}

TEST(DecomposedTokenizer, RareSyllablesHaveKnownParts) {
  TokenizerOptions options;
  options.kind = TokenizerKind::decomposed;
  options.user_symbols = {"é"};  // which stays one token
  const auto tokenizer = train_tokenizer(options, lines_of({"가 강 é", "한 국 è x"}));
  EXPECT_THAT(tokenizer->pieces("간 è"), ElementsAre("ᄀ", "￭ᅡ", "￭ᆫ", "e", "￭\u0300"));
  EXPECT_THAT(tokenizer->encode("간"), testing::Each(testing::Ge(special_count)));
  for (const std::string line : {"간 x 항", "é è x", "x"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
    EXPECT_EQ(tokenizer->join(tokenizer->pieces(line)), line);
  }
  EXPECT_EQ(tokenizer->pieces("é").size(), 1u);
  const auto loaded = load_tokenizer(options, tokenizer->serialized(), "list.txt");
  EXPECT_EQ(loaded->encode("간 é"), tokenizer->encode("간 é"));
}

// Tokenizers of each kind with user symbols.
class UserSymbols : public testing::TestWithParam<TokenizerKind> {
 protected:
  TokenizerOptions options_ = [] {
    TokenizerOptions options;
    options.kind = GetParam();
    const bool learns_merges =
        GetParam() == TokenizerKind::bpe || GetParam() == TokenizerKind::unigram;
    options.vocabulary_size = learns_merges ? 60 : 1000;
    options.user_symbols = {"<2de>", "<2DE>", "<sep>"};
    return options;
  }();
  std::unique_ptr<Tokenizer> trained_ = train_tokenizer(options_, lines_of(text()));

  static std::vector<std::string> text() {
    auto lines = syllables(100);
    for (std::size_t i = 0; i < lines.size(); i += 2) lines[i] = "<2de> " + lines[i];
    return lines;
  }
  std::int32_t id_of(const std::string& symbol) const { return trained_->encode(symbol).at(0); }
};

TEST_P(UserSymbols, FollowTheVocabularyWhichIsLearntWithoutThem) {
  auto plain = options_;
  plain.user_symbols = {};
  const auto without = train_tokenizer(plain, lines_of(syllables(100)));
  const auto learnt = without->size();
  EXPECT_EQ(trained_->size(), learnt + 3);
  for (std::int32_t id = 0; id < learnt; ++id) EXPECT_EQ(trained_->token(id), without->token(id));
  EXPECT_EQ(id_of("<2de>"), learnt);
  EXPECT_EQ(id_of("<2DE>"), learnt + 1);
  EXPECT_EQ(id_of("<sep>"), learnt + 2);
}

TEST_P(UserSymbols, AreOneTokenBeforeALineAndWithinIt) {
  const auto line = syllables(1)[0];
  auto expected = trained_->encode(line);
  const auto tagged = trained_->encode("<2de> " + line);
  EXPECT_EQ(tagged.front(), id_of("<2de>"));
  EXPECT_EQ(std::ranges::count(tagged, unk_id), 0);
  const bool has_spaces = options_.kind == TokenizerKind::character;
  EXPECT_EQ(tagged.size(), expected.size() + (has_spaces ? 2 : 1));
  EXPECT_TRUE(std::ranges::equal(expected, std::span(tagged).last(expected.size())));
  EXPECT_EQ(trained_->decode(tagged), "<2de> " + line);
  const auto within = line + " <sep> " + line;
  EXPECT_EQ(std::ranges::count(trained_->encode(within), id_of("<sep>")), 1);
  EXPECT_EQ(trained_->decode(trained_->encode(within)), within);
  EXPECT_EQ(trained_->pieces("<2de> " + line).size(), tagged.size());
  EXPECT_EQ(trained_->pieces("<2de> " + line).front(), "<2de>");
}

TEST_P(UserSymbols, StandBetweenTheLettersOfAWordUnlessTokensAreWords) {
  const bool has_words =
      GetParam() == TokenizerKind::word || GetParam() == TokenizerKind::decomposed;
  if (has_words) return;
  const auto ids = trained_->encode("ba<sep>do");
  EXPECT_EQ(std::ranges::count(ids, id_of("<sep>")), 1);
  EXPECT_EQ(trained_->decode(ids), "ba<sep>do");
}

TEST_P(UserSymbols, AreKeptByAFileAndAddedToOneWithoutThem) {
  const auto loaded = load_tokenizer(options_, trained_->serialized(), "file");
  EXPECT_EQ(loaded->serialized(), trained_->serialized());
  auto more = options_;
  more.user_symbols.push_back("<2fr>");
  const auto extended = load_tokenizer(more, trained_->serialized(), "file");
  EXPECT_EQ(extended->size(), trained_->size() + 1);
  EXPECT_EQ(extended->encode("<2fr>").at(0), trained_->size());
  EXPECT_EQ(extended->encode("<2de>"), trained_->encode("<2de>"));
}

TEST_P(UserSymbols, KeepTheirCaseWhenTextIsLowered) {
  auto lowered = options_;
  lowered.lowercase = true;
  const auto tokenizer = train_tokenizer(lowered, lines_of(text()));
  const auto ids = tokenizer->encode("<2DE> RANSTOTI lékiba");
  EXPECT_EQ(tokenizer->token(ids.front()), "<2DE>");
  EXPECT_EQ(tokenizer->decode(ids), "<2DE> ranstoti lékiba");
}

TEST_P(UserSymbols, AreOneTokenOfEverySample) {
  const auto line = "<2de> " + syllables(1)[0];
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed, 1);
    const auto ids = trained_->sample(line, 0.3, random);
    EXPECT_EQ(ids.front(), id_of("<2de>"));
    EXPECT_EQ(trained_->decode(ids), line);
  }
}

TEST_P(UserSymbols, AVocabularyIsExtendedByNewTextAtItsEnd) {
  auto options = options_;
  options.extend_by = 8;
  const auto bytes = trained_->serialized();
  const std::vector<std::string> other(20, "xylo phon xylo xxl qqq");
  const auto extended =
      load_tokenizer(options, extend_tokenizer(options, bytes, lines_of(other)), "file");
  EXPECT_GT(extended->size(), trained_->size());
  EXPECT_LE(extended->size(), trained_->size() + 8);
  for (std::int32_t id = 0; id < trained_->size(); ++id) {
    EXPECT_EQ(extended->token(id), trained_->token(id));
  }
  for (const auto& line : syllables(20)) EXPECT_EQ(extended->encode(line), trained_->encode(line));
  EXPECT_GT(std::ranges::count(trained_->encode("xylo"), unk_id), 0);
  EXPECT_EQ(std::ranges::count(extended->encode("xylo"), unk_id), 0);
  EXPECT_EQ(extended->decode(extended->encode("xylo")), "xylo");
}

TEST_P(UserSymbols, AnExtensionThatHasNoRoomForItsCharactersIsAnError) {
  const bool is_sentencepiece =
      GetParam() == TokenizerKind::bpe || GetParam() == TokenizerKind::unigram;
  if (!is_sentencepiece) return;
  auto options = options_;
  options.extend_by = 2;
  std::string text;
  for (char32_t c = U'\u4e00'; c < U'\u4e80'; ++c) text += encode_utf8(std::u32string(1, c)) + " ";
  EXPECT_THAT(
      [&] {
        extend_tokenizer(options, trained_->serialized(), lines_of({text, text}));
      },
      testing::ThrowsMessage<ConfigError>(
          testing::AllOf(testing::HasSubstr("data.tokenizer.extend_by is 2"),
                         testing::HasSubstr("raise extend_by to "))));
}

TEST(WordTokenizer, AUserSymbolIsNoPartOfAWord) {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  options.user_symbols = {"the", "A"};
  const std::vector<std::string> text = {"the mother of their A An"};
  const auto tokenizer = train_tokenizer(options, lines_of(text));
  const auto encoded = tokenizer->encode(text[0]);
  EXPECT_EQ(std::ranges::count(encoded, unk_id), 0);
  EXPECT_EQ(tokenizer->decode(encoded), text[0]);
  options.lowercase = true;
  const auto lowered = train_tokenizer(options, lines_of(text));
  EXPECT_EQ(lowered->decode(lowered->encode("An A Their")), "an A their");
}

INSTANTIATE_TEST_SUITE_P(, UserSymbols,
                         testing::Values(TokenizerKind::bpe, TokenizerKind::unigram,
                                         TokenizerKind::word, TokenizerKind::decomposed,
                                         TokenizerKind::character));

}  // namespace
}  // namespace regard::tokenizer_test
