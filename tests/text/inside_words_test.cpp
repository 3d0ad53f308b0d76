#include "text/inside_words.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/text/lines.h"

namespace regard {
namespace {

TEST(InsideWords, LettersAndNumbersWithoutASpaceGoOnWithAWordAndMarksDoNot) {
  TokenizerOptions options;
  options.kind = TokenizerKind::bpe;
  options.vocabulary_size = 40;
  std::string text;
  const auto tokenizer = train_tokenizer(
      options, lines_of({"houses, house. houses7 été", "a house, a cat: cats. x-y"}));
  const auto inside = inside_words(*tokenizer, options.kind);
  ASSERT_EQ(static_cast<std::int64_t>(inside.size()), tokenizer->size());
  for (std::int32_t id = 0; id < tokenizer->size(); ++id) {
    const auto token = tokenizer->token(id);
    const bool expected = id >= 4 && token.find_first_of(".,:-") != 0 && token.find("▁") != 0;
    EXPECT_EQ(inside[static_cast<std::size_t>(id)], expected) << token;
  }
}

TEST(InsideWords, WordsAndCharactersStandByThemselves) {
  TokenizerOptions options;
  options.kind = TokenizerKind::character;
  EXPECT_TRUE(inside_words(*load_tokenizer(options, "a\nb\n", "v"), options.kind).empty());
}

}  // namespace
}  // namespace regard
