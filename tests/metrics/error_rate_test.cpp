#include "metrics/error_rate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace regard::error_rate_test {
namespace {

using testing::ElementsAre;

constexpr auto words = ErrorRate::Symbols::words;
constexpr auto characters = ErrorRate::Symbols::characters;

double score(ErrorRate::Symbols symbols, const std::vector<std::string>& hypotheses,
             const References& references) {
  return corpus_score(ErrorRate(symbols), hypotheses, references);
}

TEST(ErrorRate, CountsSubstitutionsDeletionsAndInsertionsOfWords) {
  const ErrorRate metric(words);
  const auto counts = metric.count({"the fat cat sat", "a", ""}, {{"the cat sits", "a", "b c"}});
  EXPECT_THAT(counts.sentence(0), ElementsAre(1, 0, 1, 3));  // sat for sits, fat
  EXPECT_THAT(counts.sentence(1), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(counts.sentence(2), ElementsAre(0, 2, 0, 2));
  EXPECT_DOUBLE_EQ(metric.score(counts.sum()), 100.0 * 4 / 6);
  EXPECT_EQ(metric.to_json(counts.sum())["deletions"], 2);
}

TEST(ErrorRate, PhonesAreCountedAsWords) {
  const ErrorRate metric(ErrorRate::Symbols::phones);
  const std::vector<std::string> hypotheses = {"HH AH L OW", "W ER L"};
  const References references = {{"HH EH L OW", "W ER L D"}};
  const auto counts = metric.count(hypotheses, references);
  EXPECT_EQ(metric.name(), "PER");
  EXPECT_DOUBLE_EQ(metric.score(counts.sum()), 100.0 * 2 / 8);
  EXPECT_EQ(counts.values, ErrorRate(words).count(hypotheses, references).values);
}

TEST(ErrorRate, OfEquallyFewEditsSubstitutionsCount) {
  const auto edits = count_edits(U"ab", U"ba");
  EXPECT_EQ(edits.substitutions, 2);
  EXPECT_EQ(edits.deletions, 0);
  EXPECT_EQ(edits.insertions, 0);
}

TEST(ErrorRate, CharactersAreCodePointsAndOuterSpaceIsNone) {
  EXPECT_DOUBLE_EQ(score(characters, {" été\t"}, {{"ete"}}), 100.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(score(characters, {"ab"}, {{"a b"}}), 100.0 / 3);
  EXPECT_DOUBLE_EQ(score(words, {" a  b "}, {{"a b"}}), 0);
}

TEST(ErrorRate, TheBestReferenceCountsAndTheirMeanLength) {
  EXPECT_DOUBLE_EQ(score(words, {"a b"}, {{"c d e f"}, {"a c"}}), 100.0 * 1 / 3);
}

TEST(ErrorRate, EmptyReferences) {
  EXPECT_EQ(score(words, {"a"}, {{""}}), 100);
  EXPECT_EQ(score(words, {""}, {{""}}), 0);
  EXPECT_THROW(score(words, {"a", "b"}, {{"a"}}), InputError);
}

// The smallest number of edits, by its recursive definition.
std::int64_t distance(std::u32string_view a, std::u32string_view b) {
  if (a.empty() || b.empty()) return static_cast<std::int64_t>(a.size() + b.size());
  return std::min({distance(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1),
                   distance(a.substr(1), b) + 1, distance(a, b.substr(1)) + 1});
}

TEST(ErrorRate, EditsAreAsFewAsTheRecursiveDefinitionAllows) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::u32string a(random() % 6, U'a');
    std::u32string b(random() % 6, U'a');
    for (auto* text : {&a, &b}) {
      for (auto& symbol : *text) symbol = U"abc"[random() % 3];
    }
    const auto edits = count_edits(a, b);
    EXPECT_EQ(edits.sum(), distance(a, b));
    // Deletions shorten the reference, insertions lengthen it.
    EXPECT_EQ(std::ssize(a) - edits.deletions + edits.insertions, std::ssize(b));
  }
}

}  // namespace
}  // namespace regard::error_rate_test
