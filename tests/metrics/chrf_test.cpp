#include "metrics/chrf.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/version.h"

namespace regard::chrf_test {
namespace {

TEST(Chrf, IdenticalLinesScore100WithAnyWhiteSpace) {
  EXPECT_DOUBLE_EQ(corpus_score(Chrf(), {"ab  cd"}, {{"abc d"}}), 100);
}

// Computed by hand: only orders 1 and 2 exist on both sides. Precision is 2/2 and 1/1, recall 2/3
// and 1/2.
TEST(Chrf, ScoreOfASmallExample) {
  const double precision = 1;
  const double recall = (2. / 3 + 1. / 2) / 2;
  EXPECT_DOUBLE_EQ(corpus_score(Chrf(), {"ab"}, {{"abc"}}),
                   100 * 5 * precision * recall / (4 * precision + recall));
}

TEST(Chrf, UsesTheFirstOfReferencesWithEqualScores) {
  const double first_alone = corpus_score(Chrf(), {"ab", "cd"}, {{"ab", "xyzw"}});
  EXPECT_DOUBLE_EQ(corpus_score(Chrf(), {"ab", "cd"}, {{"ab", "xyzw"}, {"ab", "xx"}}), first_alone);
  EXPECT_NE(corpus_score(Chrf(), {"ab", "cd"}, {{"ab", "xx"}, {"ab", "xyzw"}}), first_alone);
}

TEST(Chrf, NoSentencesScoreZero) {
  EXPECT_EQ(corpus_score(Chrf(), {}, {{}}), 0);
}

TEST(Chrf, DifferentLineCountsAreAnError) {
  EXPECT_THROW(corpus_score(Chrf(), {"a", "b"}, {{"a"}}), InputError);
}

TEST(Chrf, SignatureHasTheVersionOfRegard) {
  EXPECT_EQ(
      Chrf().signature(1),
      std::string("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:regard-") + version());
}

}  // namespace
}  // namespace regard::chrf_test
