#include "text/tokenizer.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "tests/text/lines.h"

namespace regard {
namespace {

using testing::ElementsAre;

TEST(ContinuationTokens, BeginWithALetterOrNumber) {
  TokenizerOptions options;
  options.kind = TokenizerKind::bpe;
  options.vocabulary_size = 40;
  std::string text;
  const auto tokenizer = train_tokenizer(
      options, lines_of({"houses, house. houses7 été", "a house, a cat: cats. x-y"}));
  const auto continues_word = continuation_tokens(*tokenizer, options.kind);
  ASSERT_EQ(static_cast<std::int64_t>(continues_word.size()), tokenizer->size());
  for (std::int32_t id = 0; id < tokenizer->size(); ++id) {
    const auto token = tokenizer->token(id);
    const bool expected = id >= 4 && token.find_first_of(".,:-") != 0 && token.find("▁") != 0;
    EXPECT_EQ(continues_word[static_cast<std::size_t>(id)], expected) << token;
  }
}

TEST(ContinuationTokens, WordsAndCharactersHaveNone) {
  TokenizerOptions options;
  options.kind = TokenizerKind::character;
  EXPECT_TRUE(continuation_tokens(*load_tokenizer(options, "a\nb\n", "v"), options.kind).empty());
}

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

}  // namespace
}  // namespace regard
