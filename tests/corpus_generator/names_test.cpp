#include "corpus_generator/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "corpus_generator/corpus.h"

namespace regard::corpus::names_test {
namespace {

Sentence sentence(std::vector<std::string> en, std::vector<std::string> fr) {
  return {std::move(en), std::move(fr), {}, {}};
}

TEST(Names, AreReplacedConsistentlyInBothLanguages) {
  Random random(1);
  const auto found = replace_names(sentence({"Two", "cars", "of", "Paul", "and", "Paul", "."},
                                            {"Deux", "voitures", "de", "Paul", "et", "Paul", "."}),
                                   NameSplit::training, random);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->en[0], found->fr[0]);
  EXPECT_EQ(found->en[0].find_first_not_of("0123456789"), std::string::npos);
  EXPECT_EQ(found->en[3], found->fr[3]);
  EXPECT_EQ(found->en[5], found->en[3]);
  EXPECT_EQ(found->fr[5], found->en[3]);
  EXPECT_NE(found->en[3], "Paul");
  EXPECT_EQ(found->en[1], "cars");
}

TEST(Names, AreNotReplacedIfFrenchElidesThem) {
  Random random(2);
  EXPECT_FALSE(replace_names(sentence({"They", "sleep", "."}, {"Ils", "dorment", "."}),
                             NameSplit::unseen, random));
  EXPECT_FALSE(replace_names(sentence({"Anna", "'s", "car"}, {"voiture", "d'Anna"}),
                             NameSplit::unseen, random));
}

// Uses a corpus with another seed than the committed one.
TEST(Names, OfTheTestSetAreNotInTraining) {
  const auto corpus =
      generate({.seed = 9, .train = 3000, .dev = 20, .test = 0, .test_long = 0, .test_names = 50});
  std::set<std::string> known;
  for (const auto& s : corpus.train_names) {
    known.insert(s.en.begin(), s.en.end());
    known.insert(s.fr.begin(), s.fr.end());
  }
  ASSERT_EQ(corpus.train_names.size(), corpus.train.size());
  ASSERT_EQ(corpus.test_names.size(), 50U);
  for (const auto& s : corpus.test_names) {
    std::size_t unseen = 0;
    for (const auto& word : s.fr) {
      const bool open = word.find_first_of("0123456789") != std::string::npos ||
                        std::ranges::count(s.en, word) > 0;
      unseen += open && known.count(word) == 0;
    }
    EXPECT_GE(unseen, 1U) << line(s.fr);
  }
}

TEST(Names, DoNotChangeTheOtherSets) {
  const CorpusOptions plain{.seed = 4, .train = 1500, .dev = 20, .test = 10, .test_long = 0};
  auto with = plain;
  with.test_names = 5;
  const auto one = generate(plain), other = generate(with);
  for (std::size_t i = 0; i < one.train.size(); ++i)
    ASSERT_EQ(line(one.train[i].en), line(other.train[i].en));
  for (std::size_t i = 0; i < one.test.size(); ++i)
    ASSERT_EQ(line(one.test[i].fr), line(other.test[i].fr));
  EXPECT_TRUE(one.train_names.empty());
}

}  // namespace
}  // namespace regard::corpus::names_test
