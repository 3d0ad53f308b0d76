#include "corpus_generator/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "base/random.h"
#include "corpus_generator/grammar.h"

namespace regard::corpus::corpus_generator_corpus_test {
namespace {

// The tests below use this sample, generated with another seed than the committed corpus.
const Corpus& sample() {
  static const Corpus corpus =
      generate({.seed = 7, .train = 8000, .dev = 200, .test = 200, .test_long = 50});
  return corpus;
}

std::vector<const Sentence*> all() {
  std::vector<const Sentence*> sentences;
  for (const auto* set : {&sample().train, &sample().dev, &sample().test, &sample().test_long})
    for (const Sentence& sentence : *set) sentences.push_back(&sentence);
  return sentences;
}

TEST(Corpus, HasTheRequestedNumberOfSentences) {
  EXPECT_EQ(sample().train.size(), 8000u);
  EXPECT_EQ(sample().dev.size(), 200u);
  EXPECT_EQ(sample().test.size(), 200u);
  EXPECT_EQ(sample().test_long.size(), 50u);
}

TEST(Corpus, TheSameSeedProducesTheSameSentences) {
  const CorpusOptions options{.seed = 3, .train = 400, .dev = 20, .test = 0, .test_long = 0};
  const Corpus first = generate(options), second = generate(options);
  for (std::size_t i = 0; i < first.train.size(); ++i)
    ASSERT_EQ(line(first.train[i].fr), line(second.train[i].fr));
}

TEST(Corpus, TheFirstExampleIsInTraining) {
  EXPECT_TRUE(std::any_of(sample().train.begin(), sample().train.end(), [](const Sentence& s) {
    return line(s.en) == "They are watching ." && line(s.fr) == "Ils regardent .";
  }));
}

TEST(Corpus, NoSentenceOccursTwice) {
  std::set<std::string> seen;
  for (const Sentence* sentence : all())
    EXPECT_TRUE(seen.insert(line(sentence->en)).second) << line(sentence->en);
}

TEST(Corpus, AnEnglishSentenceHasOneTranslation) {
  Random random(11);
  Grammar grammar(random);
  std::map<std::string, std::string> translations;
  int repeated = 0;
  for (int i = 0; i < 20000; ++i) {
    const Sentence sentence = grammar.sentence();
    const auto [known, inserted] = translations.emplace(line(sentence.en), line(sentence.fr));
    EXPECT_EQ(known->second, line(sentence.fr)) << line(sentence.en);
    repeated += inserted ? 0 : 1;
  }
  EXPECT_GT(repeated, 500);
}

TEST(Corpus, AlignmentsStayInRangeAndReachEveryFrenchWord) {
  for (const Sentence* sentence : all()) {
    std::set<int> reached;
    for (const auto& [source, target] : sentence->alignment) {
      ASSERT_GE(source, 0);
      ASSERT_LT(source, static_cast<int>(sentence->en.size()));
      ASSERT_LT(target, static_cast<int>(sentence->fr.size()));
      reached.insert(target);
    }
    EXPECT_EQ(reached.size(), sentence->fr.size()) << line(sentence->fr);
    const std::pair<int, int> marks{sentence->en.size() - 1, sentence->fr.size() - 1};
    EXPECT_EQ(sentence->alignment.back(), marks);
  }
}

TEST(Corpus, AllContractionsAndElisionsAreApplied) {
  const std::regex wrong(
      " (de|à) les? | (le|la|de|ne|que|je|me|se) ([aeiou]|é|è|ê|œ|homme|hôtel|histoire)"
      "| (ma|sa|ce) ([aeiou]|é|hôtel|homme)| (beau|nouveau) "
      "(ami|oiseau|homme|hôtel|avion|artiste)| si ils? "
      "|'(hibou|héros|huit|hache)|  ");
  for (const Sentence* sentence : all()) {
    const std::string fr = line(sentence->fr);
    EXPECT_FALSE(std::regex_search(fr, wrong)) << fr;
  }
}

TEST(Corpus, SentencesBeginWithACapitalAndEndWithAMark) {
  for (const Sentence* sentence : all()) {
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(sentence->en.front()[0])));
    EXPECT_EQ(sentence->en.back(), sentence->fr.back());
    EXPECT_TRUE(sentence->en.back() == "." || sentence->en.back() == "?");
  }
}

TEST(Corpus, LengthsAreInRange) {
  const auto longer = [](const Sentence& s) { return s.en.size() > 30; };
  EXPECT_EQ(std::count_if(sample().train.begin(), sample().train.end(), longer), 120);
  EXPECT_TRUE(std::none_of(sample().test.begin(), sample().test.end(), longer));
  EXPECT_TRUE(std::all_of(sample().test_long.begin(), sample().test_long.end(), longer));
  for (const Sentence* sentence : all()) {
    EXPECT_GE(sentence->en.size(), 3u);
    EXPECT_LE(sentence->en.size(), 60u);
  }
}

TEST(Corpus, OnlyTestSentencesHaveHeldOutCombinations) {
  std::set<std::string> trained;
  for (const auto* set : {&sample().train, &sample().dev})
    for (const Sentence& sentence : *set)
      trained.insert(sentence.combinations.begin(), sentence.combinations.end());
  for (const auto* set : {&sample().test, &sample().test_long})
    for (const Sentence& sentence : *set)
      EXPECT_TRUE(std::any_of(
          sentence.combinations.begin(), sentence.combinations.end(),
          [&](const std::string& c) { return is_held_out(c) && trained.count(c) == 0; }))
          << line(sentence.en);
}

TEST(Corpus, EveryWordOfATestSentenceOccursInTraining) {
  std::map<std::string, int> counts;
  for (const Sentence& sentence : sample().train)
    for (const auto* words : {&sentence.en, &sentence.fr})
      for (const std::string& word : *words) ++counts[word];
  for (const auto* set : {&sample().test, &sample().test_long})
    for (const Sentence& sentence : *set)
      for (const auto* words : {&sentence.en, &sentence.fr})
        for (const std::string& word : *words) EXPECT_GE(counts[word], 5) << word;
}

}  // namespace
}  // namespace regard::corpus::corpus_generator_corpus_test
