#include "data/corpus_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/data/test_folder.h"

namespace regard {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CorpusFacts, CountsPairsAndWords) {
  const TestFolder folder;
  const auto facts = read_corpus_facts(folder.write("t.en", "the cat sees\na dog\n"),
                                       folder.write("t.fr", "le chat\nle chien\n"));
  EXPECT_EQ(facts.pairs, 2);
  EXPECT_EQ(facts.src.language, "en");
  EXPECT_EQ(facts.trg.language, "fr");
  EXPECT_DOUBLE_EQ(facts.src.mean_words, 2.5);
  EXPECT_EQ(facts.src.distinct_words, 5);
  EXPECT_EQ(facts.trg.distinct_words, 3);
  EXPECT_EQ(facts.trg.distinct_characters, 9);  // including the space
  EXPECT_EQ(facts.src.length_99, 3);
}

TEST(CorpusFacts, PairsAreCountedByTheirLongerSide) {
  const TestFolder folder;
  const auto facts =
      read_corpus_facts(folder.write("t.en", "a\na b c\na b\n" + std::string(200, 'x') + "\n"),
                        folder.write("t.fr", "a b\na\na b\na\n"));
  EXPECT_EQ(facts.pairs_by_length[1], 0);
  EXPECT_EQ(facts.pairs_by_length[2], 2);
  EXPECT_EQ(facts.pairs_by_length[3], 1);
  EXPECT_EQ(facts.pairs_by_length[50], 1);  // no spaces: a word per 4 characters
}

TEST(CorpusFacts, TheLanguageIsTheFileExtension) {
  EXPECT_EQ(language_from_path("a.b/train.de"), "de");
  EXPECT_EQ(language_from_path("train.en.gz"), "en");
  EXPECT_EQ(language_from_path("a.b/train"), "");
}

TEST(CorpusFacts, LongLengthIsTheNinetyNinthPercentile) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 95; ++i) text += "a b\n";
  for (int i = 0; i < 5; ++i) text += "a b c d e f g h i j k l\n";
  const auto facts = read_corpus_facts(folder.write("t.en", text), folder.write("t.fr", text));
  EXPECT_EQ(facts.src.length_99, 12);
}

TEST(CorpusFacts, TextWithoutSpacesIsMeasuredInCharacters) {
  const TestFolder folder;
  const std::string line(200, 'x');
  const auto facts =
      read_corpus_facts(folder.write("t.zh", line + "\n"), folder.write("t.en", "a b\n"));
  EXPECT_EQ(facts.src.length_99, 50);
}

TEST(CorpusFacts, DetectsTokenisedAndSplitText) {
  const TestFolder folder;
  const auto facts = read_corpus_facts(folder.write("t.en", "They are watching .\nWho ?\nYes .\n"),
                                       folder.write("t.fr", "Ils re@@ gardent.\nQui ?\nO@@ ui.\n"));
  EXPECT_TRUE(facts.src.tokenised);
  EXPECT_FALSE(facts.src.split);
  EXPECT_FALSE(facts.trg.tokenised);
  EXPECT_TRUE(facts.trg.split);
}

TEST(CorpusFacts, ReadsGzip) {
  const TestFolder folder;
  const auto facts = read_corpus_facts(folder.write("t.en.gz", gzipped("one\ntwo\n")),
                                       folder.write("t.fr", "un\ndeux\n"));
  EXPECT_EQ(facts.pairs, 2);
}

TEST(CorpusFacts, UnreadableOrUnequalFilesAreErrors) {
  const TestFolder folder;
  const auto one = folder.write("one.en", "a\n");
  const auto two = folder.write("two.fr", "a\nb\n");
  const auto none = folder.write("none.fr", "\n");
  EXPECT_THAT([&] { read_corpus_facts(one, two); }, ThrowsMessage<InputError>(HasSubstr("two.fr")));
  EXPECT_THAT([&] { read_corpus_facts(one, none); },
              ThrowsMessage<InputError>(HasSubstr("found no text")));
  EXPECT_THAT([&] { read_corpus_facts(one, folder.path("no.fr")); },
              ThrowsMessage<InputError>(HasSubstr("no.fr")));
}

}  // namespace
}  // namespace regard
