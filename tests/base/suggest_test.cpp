#include "base/suggest.h"

#include <gtest/gtest.h>

namespace regard::suggest_test {
namespace {

const std::vector<std::string> kinds = {"additive", "dot", "general", "location", "none"};

TEST(Suggest, EachKindOfEditCostsOne) {
  EXPECT_EQ(edit_distance("epochs", "epochs"), 0U);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1U);
  EXPECT_EQ(edit_distance("epochss", "epochs"), 1U);
  EXPECT_EQ(edit_distance("epocks", "epochs"), 1U);
  EXPECT_EQ(edit_distance("epohcs", "epochs"), 1U);
}

TEST(Suggest, DistanceToTheEmptyWordIsTheLength) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "beam"), 4U);
  EXPECT_EQ(edit_distance("beam", ""), 4U);
}

TEST(Suggest, SwappedNeighboursAreNotEditedTwice) {
  // The unrestricted distance would be 2: swap, then insert between.
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);
}

TEST(Suggest, FindsTypos) {
  EXPECT_EQ(nearest("aditive", kinds), "additive");
  EXPECT_EQ(nearest("locatoin", kinds), "location");
  EXPECT_EQ(nearest("dto", kinds), "dot");
}

TEST(Suggest, IgnoresCaseAndDashes) {
  EXPECT_EQ(nearest("BLEU", {"loss", "bleu"}), "bleu");
  EXPECT_EQ(nearest("learning-rate", {"learning_rate"}), "learning_rate");
}

TEST(Suggest, PrefersPrefixesToSimilarWords) {
  EXPECT_EQ(nearest("eval", {"translate", "evaluate"}), "evaluate");
  EXPECT_EQ(nearest("--temp", {"--top-p", "--temperature"}), "--temperature");
  EXPECT_EQ(nearest("--align", {"--alpha", "--alignments"}), "--alignments");
}

TEST(Suggest, KnowsSynonyms) {
  EXPECT_EQ(nearest("--beam", {"--ban", "--beam-alpha", "--beam-size"}), "--beam-size");
  EXPECT_EQ(nearest("--beam", {"--ban"}), std::nullopt);
  EXPECT_EQ(nearest("lr", {"epochs", "learning_rate"}), "learning_rate");
  EXPECT_EQ(nearest("bahdanau", kinds), "additive");
  EXPECT_EQ(nearest("luong", kinds), "general");
  EXPECT_EQ(nearest("Noam", {"constant", "inverse_square_root"}), "inverse_square_root");
}

TEST(Suggest, PrefersTheSameSpelling) {
  EXPECT_EQ(nearest("-SRC", {"--input", "--src"}), "--src");
  const auto suggestion = suggest("--Beam_Size", {"--beam-sizes", "--beam-size"});
  ASSERT_TRUE(suggestion);
  EXPECT_EQ(suggestion->word, "--beam-size");
  EXPECT_EQ(suggestion->similarity, Similarity::equal);
}

TEST(Suggest, NoSuggestionIfNothingIsSimilar) {
  EXPECT_EQ(nearest("transformer", kinds), std::nullopt);
  EXPECT_EQ(nearest("x", {"y"}), std::nullopt);
  EXPECT_EQ(nearest("", kinds), std::nullopt);
  EXPECT_EQ(nearest("dot", {}), std::nullopt);
}

TEST(Suggest, PrefersFewestEditsThenTheFirst) {
  EXPECT_EQ(nearest("beam_sise", {"beam_side", "beam_size", "beam"}), "beam_side");
  EXPECT_EQ(nearest("beam_sizee", {"beam_side", "beam_size"}), "beam_size");
}

}  // namespace
}  // namespace regard::suggest_test
