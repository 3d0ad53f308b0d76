#include "metrics/ter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/version.h"

namespace regard {
namespace {

TEST(Ter, IdenticalLinesNeedNoEdit) {
  EXPECT_EQ(corpus_ter({"a b c"}, {{"a b c"}}), 0);
}

// Computed by hand: "b" for "x", "d" deleted, "e" inserted; 3 edits for 4 words.
TEST(Ter, CountsSubstitutionsDeletionsAndInsertions) {
  EXPECT_DOUBLE_EQ(corpus_ter({"a b c d"}, {{"a x c"}}), 100. * 2 / 3);
  EXPECT_DOUBLE_EQ(corpus_ter({"a c"}, {{"a x c e"}}), 100. * 2 / 4);
}

TEST(Ter, AShiftedPhraseIsOneEdit) {
  EXPECT_DOUBLE_EQ(corpus_ter({"on the mat sat a cat"}, {{"a cat sat on the mat"}}), 100. * 2 / 6);
  EXPECT_DOUBLE_EQ(corpus_ter({"d e f a b c"}, {{"a b c d e f"}}), 100. * 1 / 6);
}

TEST(Ter, DividesTheFewestEditsByTheMeanLength) {
  EXPECT_DOUBLE_EQ(corpus_ter({"a b c"}, {{"x y"}, {"a b c d"}}), 100. * 1 / 3);
}

TEST(Ter, ReferencesWithoutWords) {
  EXPECT_EQ(corpus_ter({"a b"}, {{""}}), 100);
  EXPECT_EQ(corpus_ter({""}, {{""}}), 0);
  EXPECT_EQ(corpus_ter({}, {{}}), 0);
}

TEST(Ter, CaseSensitivityIsOptional) {
  EXPECT_EQ(corpus_ter({"Das Ü"}, {{"das ü"}}), 0);
  EXPECT_EQ(corpus_ter({"Das Ü"}, {{"das ü"}}, {.case_sensitive = true}), 100);
}

// A full table would have 10^10 cells.
TEST(Ter, LongLinesUseABand) {
  std::string hypothesis;
  std::string reference;
  for (int i = 0; i < 100'000; ++i) {
    hypothesis += "h" + std::to_string(i) + " ";
    reference += "r" + std::to_string(i) + " ";
  }
  EXPECT_EQ(corpus_ter({hypothesis}, {{reference}}), 100);
}

TEST(Ter, DifferentLineCountsAreAnError) {
  EXPECT_THROW(corpus_ter({"a", "b"}, {{"a"}}), InputError);
}

TEST(Ter, SignatureHasTheVersionOfRegard) {
  EXPECT_EQ(ter_signature({}, 1),
            std::string("nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:regard-") +
                version());
}

}  // namespace
}  // namespace regard
