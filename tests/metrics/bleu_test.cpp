#include "metrics/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/version.h"

namespace regard::bleu_test {
namespace {

// Computed by hand: precisions 5/6, 3/5, 1/4 and 0/3, which is smoothed to 1/6.
TEST(Bleu, ScoreOfASmallExample) {
  const Bleu bleu;
  const auto sums = bleu.count({"the cat sat on a mat"}, {{"the cat sat by a mat"}}).sum();
  EXPECT_THAT(sums, testing::ElementsAre(6, 6, 5, 3, 1, 0, 6, 5, 4, 3));
  EXPECT_NEAR(bleu.score(sums), 100 * std::pow(5. / 6 * 3 / 5 * 1 / 4 * 1 / 6, 0.25), 1e-9);
}

TEST(Bleu, BrevityPenaltyIsExpOneMinusRatio) {
  const auto counts = Bleu().count({"a b c d"}, {{"a b c d e f"}});
  EXPECT_DOUBLE_EQ(compute_bleu(counts.sum()).brevity_penalty, std::exp(1 - 6. / 4));
}

TEST(Bleu, SmoothingValueReplacesTheDefault) {
  BleuOptions options;
  options.smoothing = BleuSmoothing::floor;
  options.smoothing_value = 0.5;
  const Bleu bleu(options);
  const auto counts = bleu.count({"a x b"}, {{"a y b"}});
  EXPECT_DOUBLE_EQ(compute_bleu(counts.sum(), options).precisions[1], 100 * 0.5 / 2);
  EXPECT_THAT(bleu.signature(1), testing::HasSubstr("smooth:floor[0.50]"));
}

TEST(Bleu, NoSentencesScoreZero) {
  EXPECT_EQ(corpus_score(Bleu(), {}, {{}}), 0);
}

TEST(Bleu, DifferentLineCountsNameBothCounts) {
  EXPECT_THAT(([] {
                corpus_score(Bleu(), {"a", "b"}, {{"a", "b"}, {"a"}});
              }),
              testing::ThrowsMessage<InputError>(testing::StrEq(
                  "reference 2 has 1 line, but found 2 hypotheses: give one line for each")));
}

TEST(Bleu, NoReferenceIsAnError) {
  EXPECT_THROW(corpus_score(Bleu(), {"a"}, {}), InputError);
}

TEST(Bleu, SignatureHasTheVersionOfRegard) {
  EXPECT_EQ(
      Bleu().signature(2),
      std::string("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:regard-") + version());
}

TEST(Bleu, DetailsHavePrecisionsAndLengths) {
  const Bleu bleu;
  const auto counts = bleu.count({"the cat sat on a mat"}, {{"the cat sat by a mat"}});
  EXPECT_EQ(bleu.details(counts.sum()),
            "83.3/60.0/25.0/16.7 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)");
}

}  // namespace
}  // namespace regard::bleu_test
