// Tests the metrics and the picture of the library through its public headers.
#include "regard/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "regard/attention_svg.h"

namespace regard::metrics_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using testing::ThrowsMessage;

const std::vector<std::string> hypotheses = {"The cat sits on a mat .", "a dog"};
const std::vector<std::string> references = {"The cat sits on the mat .", "a dog"};

TEST(LibraryMetrics, ScoresAreNamedAndSigned) {
  const auto scores = evaluate(hypotheses, {references}, {"bleu", "chrf++", "ter"});
  ASSERT_THAT(scores, SizeIs(3));
  EXPECT_EQ(scores[0].metric, "bleu");
  EXPECT_EQ(scores[0].name, "BLEU");
  EXPECT_THAT(scores[0].signature, StartsWith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|"));
  EXPECT_THAT(scores[0].details, HasSubstr("hyp_len = 9 ref_len = 9"));
  EXPECT_EQ(scores[1].name, "chrF2++");
  EXPECT_DOUBLE_EQ(scores[2].score, 100.0 / 9);  // one of nine words differs
  EXPECT_THAT(scores[2].sentence_scores, SizeIs(0));
  EXPECT_TRUE(std::isnan(scores[2].confidence_mean));
}

TEST(LibraryMetrics, OptionsChangeTheScores) {
  const auto ter = [&](const std::vector<std::string>& options) {
    return evaluate({"the cat ."}, {{"The cat"}}, {"ter"}, options)[0].score;
  };
  EXPECT_EQ(ter({}), 50);
  EXPECT_EQ(ter({"ter_no_punct=true"}), 0);
  EXPECT_EQ(ter({"ter_no_punct=true", "ter_case_sensitive=true"}), 50);
  const auto scores =
      evaluate(hypotheses, {references}, {"ter"},
               {"sentence_level=true", "confidence=true", "resamples=20", "resampling_seed=1"});
  EXPECT_THAT(scores[0].sentence_scores, testing::ElementsAre(testing::DoubleEq(100.0 / 7), 0.0));
  EXPECT_GT(scores[0].confidence_half_width, 0);
  EXPECT_THAT(scores[0].signature, HasSubstr("bs:20|seed:1|"));
}

TEST(LibraryMetrics, ErrorsAreMessages) {
  const auto says = [](auto message) {
    return ThrowsMessage<std::runtime_error>(HasSubstr(message));
  };
  const auto call = [](const std::vector<std::string>& options) {
    return [options] { evaluate({"a"}, {{"a"}}, {"bleu"}, options); };
  };
  EXPECT_THAT(call({"tokenise=intl"}), says("did you mean 'tokenize'?"));
  EXPECT_THAT(call({"tokenize"}), says("evaluation option `tokenize`: expected key=value"));
  EXPECT_THAT(call({"chrf_beta=101"}), says("found `101`, expected a number between 0 and 100"));
  EXPECT_THAT(call({"tokenize=spm"}), says("spm_model: found none"));
  EXPECT_THAT(call({"ter_no_punct=true"}), says("ter_no_punct: found no metric that reads it"));
  EXPECT_THAT(call({"paired_bs=true"}), says("found one system, but a paired test"));
  EXPECT_THAT([] { evaluate({"a"}, {{"a"}}, {"blue"}); }, says("unknown metric 'blue'"));
  EXPECT_THAT([] { evaluate({"a"}, {}); }, says("found no reference"));
  EXPECT_THAT([] { evaluate({"a"}, {{"a"}, {}}); }, says("reference 2 has 0 lines"));
  EXPECT_THAT([] { evaluate({"a", "\xFF"}, {{"a", "b"}}); }, says("hypothesis:2: byte 1"));
  EXPECT_THAT([] { evaluate({"a"}, {{" "}}); }, says("reference: empty"));
}

TEST(LibraryPicture, DrawsTheTokens) {
  const auto svg = attention_svg({"a", "b"}, {"c"}, {0.5F, 0.5F}, "one < two", "row");
  EXPECT_THAT(svg, StartsWith("<svg"));
  EXPECT_THAT(svg, HasSubstr("one &lt; two"));
  EXPECT_THAT([] { attention_svg({"a"}, {"b"}, {}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("found 0 weights, expected 1")));
  EXPECT_THAT([] { attention_svg({"a"}, {"b"}, {1}, "", "log"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("expected one of absolute, picture")));
}

}  // namespace
}  // namespace regard::metrics_test
