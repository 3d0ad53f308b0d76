#include "data/corpus_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/gzipped.h"

namespace regard::corpus_statistics_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CorpusStatistics, CountsPairsAndWords) {
  const ScratchFolder folder;
  const auto statistics = read_corpus_statistics(folder.write("t.en", "the cat sees\na dog\n"),
                                                 folder.write("t.fr", "le chat\nle chien\n"));
  EXPECT_EQ(statistics.pairs, 2);
  EXPECT_EQ(statistics.src.language, "en");
  EXPECT_EQ(statistics.trg.language, "fr");
  EXPECT_DOUBLE_EQ(statistics.src.mean_words, 2.5);
  EXPECT_EQ(statistics.src.distinct_words, 5);
  EXPECT_EQ(statistics.trg.distinct_words, 3);
  EXPECT_EQ(statistics.trg.distinct_characters, 9);  // including the space
}

TEST(CorpusStatistics, CountsThePartsOfSymbols) {
  const ScratchFolder folder;
  const auto statistics = read_corpus_statistics(folder.write("t.ko", "가 나\n다 각\n"),
                                                 folder.write("t.ph", "k a\nn a\n"));
  EXPECT_EQ(statistics.src.distinct_words, 4);
  EXPECT_EQ(statistics.src.distinct_parts, 5);  // g, n, d, a and the final g
  EXPECT_EQ(statistics.trg.distinct_parts, 3);
}

TEST(CorpusStatistics, LengthsAreThoseOfTheTokenizer) {
  const ScratchFolder folder;
  auto statistics = read_corpus_statistics(folder.write("t.en", "a\na b c\na b\nc c\nc\n"),
                                           folder.write("t.fr", "a b\na\na b\na\n\n"));
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  measure_tokens(options, statistics);
  EXPECT_DOUBLE_EQ(statistics.src.mean_tokens, 2);
  EXPECT_DOUBLE_EQ(statistics.trg.mean_tokens, 1.5);
  EXPECT_EQ(statistics.measured_pairs, 5);
  EXPECT_EQ(statistics.empty_pairs, 1);
  EXPECT_EQ(statistics.pairs_by_length[1], 0);
  EXPECT_EQ(statistics.pairs_by_length[2], 3);
  EXPECT_EQ(statistics.pairs_by_length[3], 1);
  EXPECT_EQ(statistics.outputs.longer_targets(), 0);
  EXPECT_EQ(statistics.outputs.needed_length(), 10);
  options.kind = TokenizerKind::bpe;
  options.vocabulary_size = 5'000;  // more than so little text has
  measure_tokens(options, statistics);
  EXPECT_DOUBLE_EQ(statistics.trg.mean_tokens, 2) << "in characters";
}

TEST(CorpusStatistics, CountsTheTargetTokensInCommonSubstrings) {
  const ScratchFolder folder;
  auto symbols = read_corpus_statistics(folder.write("t.src", "<N> w a l k\n<V> s i t\n"),
                                        folder.write("t.trg", "w a l k s\ns a t\n"));
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  measure_tokens(options, symbols);
  EXPECT_DOUBLE_EQ(symbols.repeated_tokens, 4.0 / 8);
  auto letters =
      read_corpus_statistics(folder.write("l.src", "walk\n"), folder.write("l.trg", "walks\n"));
  options.kind = TokenizerKind::character;
  measure_tokens(options, letters);
  EXPECT_DOUBLE_EQ(letters.repeated_tokens, 4.0 / 5);
}

TEST(CorpusStatistics, PairsThatTrainingSkipsDoNotCount) {
  const ScratchFolder folder;
  std::string source = "a\n";
  std::string target = "a b c d e f g h i j\n";
  for (int i = 0; i < 198; ++i) {
    source += "a b\n";
    target += "a b c\n";
  }
  source += "a b\n";
  for (int i = 0; i < 900; ++i) target += "z ";
  target += "z\n";
  const auto src = folder.write("t.en", source);
  const auto trg = folder.write("t.fr", target);
  auto symbols = read_corpus_statistics(src, trg);
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  measure_tokens(options, symbols);
  EXPECT_EQ(symbols.uneven_pairs, 1) << "10 times as long";
  EXPECT_EQ(symbols.kept_pairs, 199) << "all but the last, which is longer than max_length";
  EXPECT_EQ(symbols.outputs.needed_length(), 20);
  auto translation = symbols;
  translation.src.distinct_words = translation.trg.distinct_words = 5'000;
  measure_tokens(options, translation);
  EXPECT_EQ(translation.uneven_pairs, 1);
  EXPECT_EQ(translation.kept_pairs, 198);
  EXPECT_DOUBLE_EQ(translation.trg.mean_tokens, 3);
}

TEST(CorpusStatistics, AllValidationPairsCount) {
  const ScratchFolder folder;
  auto statistics = read_corpus_statistics(folder.write("t.en", "a b\nb a\n"),
                                           folder.write("t.fr", "a b\nb a\n"));
  std::string target;
  for (int i = 0; i < 300; ++i) target += "z ";
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  const auto dev_src = folder.write("d.en", "a\n"), dev_trg = folder.write("d.fr", target + "\n");
  measure_tokens(options, statistics, {dev_src, dev_trg});
  EXPECT_FALSE(statistics.outputs.exceed_limits());
  EXPECT_TRUE(statistics.dev_outputs.exceed_limits()) << "longer than max_length, but not skipped";
  EXPECT_EQ(statistics.dev_outputs.needed_length(), 310);
  measure_tokens(options, statistics);
  EXPECT_FALSE(statistics.dev_outputs.exceed_limits());
}

TEST(CorpusStatistics, CountsDistinctWordsThatAreCopied) {
  const ScratchFolder folder;
  const auto statistics =
      read_corpus_statistics(folder.write("t.en", "set a to x\nset b to y\nset c to z\nset to a\n"),
                             folder.write("t.py", "a = x\nb = why\nc = z\n= a\n"));
  EXPECT_DOUBLE_EQ(statistics.copied_words, 5.0 / 7) << "a, x, b, c and z, but not `=` and `why`";
}

TEST(CorpusStatistics, TheLanguageIsTheFileExtension) {
  EXPECT_EQ(language_from_path("a.b/train.de"), "de");
  EXPECT_EQ(language_from_path("train.en.gz"), "en");
  EXPECT_EQ(language_from_path("a.b/train"), "");
}

TEST(CorpusStatistics, DetectsTokenisedAndSplitText) {
  const ScratchFolder folder;
  const auto statistics =
      read_corpus_statistics(folder.write("t.en", "They are watching .\nWho ?\nYes .\n"),
                             folder.write("t.fr", "Ils re@@ gardent.\nQui ?\nO@@ ui.\n"));
  EXPECT_TRUE(statistics.src.tokenised);
  EXPECT_FALSE(statistics.src.split);
  EXPECT_FALSE(statistics.trg.tokenised);
  EXPECT_TRUE(statistics.trg.split);
}

TEST(CorpusStatistics, ReadsGzip) {
  const ScratchFolder folder;
  const auto statistics = read_corpus_statistics(folder.write("t.en.gz", gzipped("one\ntwo\n")),
                                                 folder.write("t.fr", "un\ndeux\n"));
  EXPECT_EQ(statistics.pairs, 2);
}

TEST(CorpusStatistics, UnreadableOrUnequalFilesAreErrors) {
  const ScratchFolder folder;
  const auto one = folder.write("one.en", "a\n");
  const auto two = folder.write("two.fr", "a\nb\n");
  const auto none = folder.write("none.fr", "\n");
  EXPECT_THAT([&] { read_corpus_statistics(one, two); },
              ThrowsMessage<InputError>(HasSubstr("two.fr")));
  EXPECT_THAT([&] { read_corpus_statistics(one, none); },
              ThrowsMessage<InputError>(HasSubstr("found no text")));
  EXPECT_THAT([&] { read_corpus_statistics(one, folder.path("no.fr")); },
              ThrowsMessage<InputError>(HasSubstr("no.fr")));
}

}  // namespace
}  // namespace regard::corpus_statistics_test
