#include "corpus_generator/morphology.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace regard::corpus::morphology_test {
namespace {

const Agreement i{1, false, false};
const Agreement he{3, false, false};
const Agreement she{3, false, true};
const Agreement we{1, true, false};
const Agreement they{3, true, false};
const Agreement they_feminine{3, true, true};

// Words marked "*" are articles.
std::string contracted(const std::vector<std::string>& words) {
  Tokens tokens;
  for (const std::string& word : words) {
    const bool article = word[0] == '*';
    tokens.push_back({article ? word.substr(1) : word, {0}, article});
  }
  std::vector<std::string> texts;
  for (const Token& token : contract(tokens)) texts.push_back(token.text);
  return line(texts);
}

TEST(French, VowelsAndMuteHElideButAspiratedHDoesNot) {
  for (const char* word : {"arbre", "école", "œuf", "homme", "hôtel", "Anna", "y", "être"})
    EXPECT_TRUE(starts_with_vowel_sound(word)) << word;
  for (const char* word : {"chat", "hibou", "héros", "huit", "hache", "yeux", "Rome"})
    EXPECT_FALSE(starts_with_vowel_sound(word)) << word;
}

TEST(French, ArticlesContractWithPrepositionsUnlessTheyElide) {
  EXPECT_EQ(contracted({"de", "*le", "chat"}), "du chat");
  EXPECT_EQ(contracted({"à", "*le", "hibou"}), "au hibou");
  EXPECT_EQ(contracted({"à", "*les", "hommes"}), "aux hommes");
  EXPECT_EQ(contracted({"de", "*le", "homme"}), "de l'homme");
  EXPECT_EQ(contracted({"à", "*la", "école"}), "à l'école");
  EXPECT_EQ(contracted({"de", "*la", "rue"}), "de la rue");
}

TEST(French, PronounsDoNotContract) {
  EXPECT_EQ(contracted({"de", "le", "voir"}), "de le voir");
}

TEST(French, FunctionWordsElideBeforeVowels) {
  EXPECT_EQ(contracted({"il", "ne", "la", "aime", "pas"}), "il ne l'aime pas");
  EXPECT_EQ(contracted({"parce", "que", "elle", "se", "arrête"}), "parce qu'elle s'arrête");
  EXPECT_EQ(contracted({"que", "le", "homme", "voit"}), "que l'homme voit");
  EXPECT_EQ(contracted({"si", "il", "et", "si", "elle"}), "s'il et si elle");
  EXPECT_EQ(contracted({"ce", "est"}), "c'est");
}

TEST(French, AMergedTokenHasTheMeaningsOfItsParts) {
  const Tokens tokens = contract({{"de", {1}}, {"le", {2}, true}, {"chat", {3}}});
  EXPECT_EQ(tokens.at(0).meanings, (std::vector<int>{1, 2}));
}

TEST(French, RegularVerbsKeepTheirSoundBeforeEveryEnding) {
  EXPECT_EQ(conjugate(verb("eat"), Tense::present, we), "mangeons");
  EXPECT_EQ(conjugate(verb("eat"), Tense::imperfect, they), "mangeaient");
  EXPECT_EQ(conjugate(verb("eat"), Tense::imperfect, we), "mangions");
  EXPECT_EQ(conjugate(verb("eat"), Tense::future, i), "mangerai");
}

TEST(French, IrregularVerbsFollowTheirTables) {
  EXPECT_EQ(conjugate(verb("go"), Tense::present, they), "vont");
  EXPECT_EQ(conjugate(verb("go"), Tense::future, he), "ira");
  EXPECT_EQ(conjugate(verb("see"), Tense::imperfect, we), "voyions");
  EXPECT_EQ(conjugate(verb("take"), Tense::future, he), "prendra");
  EXPECT_EQ(conjugate(verb("be"), Tense::imperfect, he), "était");
  EXPECT_EQ(conjugate(verb("go"), Tense::perfect, they), "sont");
  EXPECT_EQ(conjugate(verb("see"), Tense::perfect, they), "ont");
}

TEST(French, ParticiplesAgree) {
  EXPECT_EQ(participle(verb("go"), they_feminine), "allées");
  EXPECT_EQ(participle(verb("take"), they), "pris");
  EXPECT_EQ(participle(verb("open"), she), "ouverte");
}

TEST(French, AdjectivesHaveAFormForVowels) {
  EXPECT_EQ(agree(adjective("beautiful"), he, "oiseau"), "bel");
  EXPECT_EQ(agree(adjective("old"), he, "homme"), "vieil");
  EXPECT_EQ(agree(adjective("old"), he, "hibou"), "vieux");
  EXPECT_EQ(agree(adjective("new"), she, "idée"), "nouvelle");
  EXPECT_EQ(agree(adjective("happy"), they_feminine, ""), "heureuses");
}

TEST(French, DeterminersDependOnTheNextWord) {
  EXPECT_EQ(agree(determiner("my"), she, "histoire"), "mon");
  EXPECT_EQ(agree(determiner("my"), she, "hache"), "ma");
  EXPECT_EQ(agree(determiner("this"), he, "homme"), "cet");
  EXPECT_EQ(agree(determiner("this"), he, "héros"), "ce");
  EXPECT_EQ(agree(determiner("their"), they, "chats"), "leurs");
}

}  // namespace
}  // namespace regard::corpus::morphology_test
