#include "config/suggestion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/check.h"
#include "config/reader.h"

namespace regard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SideFacts side(const std::string& path, std::int64_t words) {
  return {.path = path,
          .language = path.substr(path.rfind('.') + 1),
          .mean_words = 10,
          .long_length = 40,
          .distinct_words = words,
          .distinct_characters = 90};
}

Suggestion of(std::int64_t pairs, std::int64_t words = 50'000) {
  Suggestion suggestion;
  suggestion.name = "mine";
  suggestion.train = {pairs, side("t.en", words), side("t.fr", words)};
  suggestion.dev_src = "dev.en";
  suggestion.dev_trg = "dev.fr";
  return suggestion;
}

Options read(const Suggestion& suggestion) {
  const auto options = parse_options(suggested_config(suggestion), "suggestion");
  check_training_options(options);
  return options;
}

TEST(Suggestion, IsAConfigurationForEverySizeOfCorpus) {
  for (const std::int64_t pairs : {1, 100, 5'000, 30'000, 400'000, 50'000'000}) {
    for (const std::int64_t words : {10, 1'500, 1'000'000}) {
      EXPECT_NO_THROW(read(of(pairs, words))) << pairs << " pairs of " << words << " words";
    }
  }
}

TEST(Suggestion, MoreTextHasALargerModelThatIsHeldBackLess) {
  const auto small = read(of(2'000));
  const auto large = read(of(2'000'000));
  EXPECT_LT(small.model.decoder.hidden_size, large.model.decoder.hidden_size);
  EXPECT_LT(small.data.tokenizer.vocabulary_size, large.data.tokenizer.vocabulary_size);
  EXPECT_GT(small.model.dropout.states, large.model.dropout.states);
  EXPECT_GT(small.training.epochs, large.training.epochs);
}

TEST(Suggestion, TheVocabularyIsOneThatTheTextCanFill) {
  EXPECT_LE(read(of(30'000, 4'000)).data.tokenizer.vocabulary_size, 2'000);
  EXPECT_EQ(read(of(30'000, 300)).data.tokenizer.kind, TokenizerKind::word);
  auto uneven = of(30'000, 300);
  uneven.train.trg.distinct_words = 20'000;
  EXPECT_EQ(read(uneven).data.tokenizer.vocabulary_size, 20'004);  // no word is left out
}

TEST(Suggestion, TextInSubWordsIsNotSplitAgain) {
  auto suggestion = of(30'000);
  suggestion.train.trg.split = true;
  EXPECT_EQ(read(suggestion).data.tokenizer.kind, TokenizerKind::word);
}

TEST(Suggestion, ManyCharactersAreNotAllCovered) {
  auto suggestion = of(30'000);
  suggestion.train.src.distinct_characters = 3'000;
  EXPECT_LT(read(suggestion).data.tokenizer.character_coverage, 1);
  EXPECT_EQ(read(of(30'000)).data.tokenizer.character_coverage, 1);
}

TEST(Suggestion, LongSentencesFit) {
  auto suggestion = of(30'000);
  suggestion.train.trg.long_length = 80;
  EXPECT_GE(read(suggestion).data.max_length, 80);
}

TEST(Suggestion, ItCountsThePairsThatAreLeftOut) {
  auto suggestion = of(29'000);
  EXPECT_THAT(suggested_config(suggestion), Not(HasSubstr("one in a hundred")));
  suggestion.train.pairs_by_length.assign(101, 0);
  suggestion.train.pairs_by_length[40] = 28'900;  // 52 tokens: they fit
  EXPECT_THAT(suggested_config(suggestion), HasSubstr("longer pairs are left out, none here\n"));
  suggestion.train.pairs_by_length[47] = 7;  // 61.1 tokens
  suggestion.train.pairs_by_length[46] = 5;  // 59.8
  suggestion.train.pairs_by_length[100] = 2;
  EXPECT_THAT(suggested_config(suggestion),
              HasSubstr("max_length: 60   # tokens; longer pairs are left out, about 9 of 29000 "
                        "here\n"));
  suggestion.train.src.distinct_words = 300;  // words are tokens then
  EXPECT_THAT(suggested_config(suggestion), HasSubstr("left out, 2 of 29000 here\n"));
}

TEST(Suggestion, OnePairIsNoPairs) {
  EXPECT_THAT(suggested_config(of(1)), AllOf(HasSubstr("other: 1 pair."), Not(HasSubstr("1 pairs")),
                                             Not(HasSubstr("1 lines"))));
}

TEST(Suggestion, ItPointsToTheDocumentsWhereTheyAre) {
  auto suggestion = of(30'000);
  suggestion.documents = "/opt/share/doc";
  EXPECT_THAT(suggested_config(suggestion), HasSubstr("# /opt/share/doc/attention.md has all"));
}

TEST(Suggestion, WithoutAValidationPairNothingWaitsForOne) {
  auto suggestion = of(30'000);
  suggestion.dev_src.clear();
  suggestion.dev_trg.clear();
  EXPECT_THAT(suggested_config(suggestion),
              AllOf(HasSubstr("# No validation pair"), Not(HasSubstr("patience"))));
  EXPECT_EQ(read(suggestion).data.dev.src, "");
}

TEST(Suggestion, NamesThatYamlWouldMisreadAreQuoted) {
  auto suggestion = of(30'000);
  suggestion.name = "yes: #1";
  suggestion.train.src.path = "a b: c.en";
  const auto options = read(suggestion);
  EXPECT_EQ(options.name, "yes: #1");
  EXPECT_EQ(options.data.train[0].src, "a b: c.en");
}

TEST(Suggestion, TokenisedTextIsSaidToBe) {
  auto suggestion = of(30'000);
  EXPECT_THAT(suggested_config(suggestion), Not(HasSubstr("tokenised")));
  suggestion.train.src.tokenised = true;
  EXPECT_THAT(suggested_config(suggestion), HasSubstr("looks tokenised"));
}

}  // namespace
}  // namespace regard
