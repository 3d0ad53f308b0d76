#include "text/vocabulary.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::vocabulary_test {
namespace {

using testing::HasSubstr;

std::string no_fault(std::string_view) {
  return {};
}

Vocabulary parse(std::string_view bytes) {
  return Vocabulary::parse(bytes, "words.txt", no_fault);
}

std::string error_of(std::string_view bytes) {
  return message_of<InputError>([&] { parse(bytes); });
}

TEST(Vocabulary, SpecialTokensComeFirst) {
  const Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.serialized(), "<pad>\n<unk>\n<s>\n</s>\n");
  EXPECT_EQ(vocabulary.token(pad_id), "<pad>");
  EXPECT_EQ(vocabulary.token(unk_id), "<unk>");
  EXPECT_EQ(vocabulary.token(bos_id), "<s>");
  EXPECT_EQ(vocabulary.token(eos_id), "</s>");
  EXPECT_EQ(special_name(eos_id), "</s>");
}

TEST(Vocabulary, TokensAreOrderedByFrequencyThenBytes) {
  const Vocabulary vocabulary({{"b", 2}, {"é", 2}, {"a", 2}, {"rare", 1}, {"z", 9}}, 1, 100);
  EXPECT_EQ(vocabulary.serialized(), "<pad>\n<unk>\n<s>\n</s>\nz\na\nb\né\nrare\n");
}

TEST(Vocabulary, RareTokensAndThoseOverTheLimitAreUnknown) {
  const Vocabulary frequent({{"a", 3}, {"b", 2}, {"c", 1}}, 2, 100);
  EXPECT_EQ(frequent.id("b"), 5);
  EXPECT_EQ(frequent.id("c"), unk_id);
  const Vocabulary limited({{"a", 3}, {"b", 2}, {"c", 1}}, 1, 5);
  EXPECT_EQ(limited.size(), 5);
  EXPECT_EQ(limited.id("a"), 4);
  EXPECT_EQ(limited.id("b"), unk_id);
}

TEST(Vocabulary, TextSpeltLikeASpecialTokenIsUnknown) {
  const Vocabulary vocabulary({{"</s>", 9}, {"a", 1}}, 1, 100);
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_EQ(vocabulary.id("</s>"), unk_id);
  EXPECT_EQ(vocabulary.id("<pad>"), unk_id);
}

TEST(Vocabulary, ParsesWhatItSerializes) {
  const Vocabulary saved({{" ", 9}, {"\r", 8}, {"é", 2}, {"🙂", 1}}, 1, 100);
  const Vocabulary loaded = parse(saved.serialized());
  EXPECT_EQ(loaded.serialized(), saved.serialized());
  EXPECT_EQ(loaded.id("🙂"), 7);
  EXPECT_EQ(loaded.id("\r"), 5);
}

TEST(Vocabulary, SpecialTokensMayBeAnywhereInAFile) {
  EXPECT_EQ(parse("a\n<unk>\nb\n").serialized(), "<pad>\n<unk>\n<s>\n</s>\na\nb\n");
  EXPECT_EQ(parse("a\r\nb").id("b"), 5);
}

TEST(Vocabulary, SkipsAByteOrderMark) {
  const auto none = [](std::string_view) { return std::string(); };
  EXPECT_EQ(Vocabulary::parse("\uFEFFa\nb\n", "file", none).id("a"), special_count);
  EXPECT_EQ(Vocabulary::parse("\uFEFF\nb\n", "file", none).id("\uFEFF"), special_count);
}

TEST(Vocabulary, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("a\nb\na\n"), HasSubstr("words.txt:3: found the token 'a' again"));
  EXPECT_THAT(error_of("<s>\n<s>\n"), HasSubstr("words.txt:2:"));
  EXPECT_THAT(error_of("a\n\nb\n"), HasSubstr("words.txt:2: found an empty line"));
  EXPECT_THAT(error_of("a\nb\xE9\n"), HasSubstr("words.txt:2: byte 2 is not UTF-8"));
}

}  // namespace
}  // namespace regard::vocabulary_test
