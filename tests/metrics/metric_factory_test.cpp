#include "metrics/metric_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace regard::metric_factory_test {
namespace {

const std::vector<std::string> hypotheses{"a cat sat on the mat", "it rains.", ""};
const References references{{"the cat sat on a mat", "It rains today.", "so"},
                            {"a cat was on the mat", "rain.", "so it is"}};

TEST(MetricFactory, ANameMakesTheMetricWithItsOptions) {
  const MetricOptions options;
  const std::vector<double> expected = {
      corpus_score(Bleu(), hypotheses, references), corpus_score(Chrf(), hypotheses, references),
      corpus_score(Chrf({.word_order = 2}), hypotheses, references),
      corpus_score(Ter(), hypotheses, references)};
  for (std::size_t m = 0; m < expected.size(); ++m) {
    SCOPED_TRACE(metric_names()[m]);
    const auto metric = make_metric(metric_names()[m], options);
    const auto counts = metric->count(hypotheses, references);
    EXPECT_EQ(counts.sentences(), hypotheses.size());
    EXPECT_DOUBLE_EQ(metric->score(counts.sum()), expected[m]);
    EXPECT_DOUBLE_EQ(metric->to_json(counts.sum()).at("score"), expected[m]);
    EXPECT_THAT(metric->signature(2), testing::StartsWith("nrefs:2|"));
  }
}

// sacreBLEU has no WER, no CER, no PER and no exact match.
TEST(MetricFactory, NamesEqualThoseOfSacreBleu) {
  std::vector<std::string> names;
  for (const auto& name : metric_names()) names.push_back(make_metric(name, {})->name());
  EXPECT_THAT(
      names, testing::ElementsAre("BLEU", "chrF2", "chrF2++", "TER", "WER", "CER", "PER", "exact"));
}

TEST(MetricFactory, ExactMatchIsThePercentageOfLinesThatEqualAReference) {
  const auto metric = make_metric("exact", {});
  const auto counts =
      metric->count({"a b", "c", "d ", "E"}, {{"a b", "x", "d", "e"}, {"y", "c", "D", "e"}});
  EXPECT_THAT(counts.values, testing::ElementsAre(1, 1, 1, 1, 0, 1, 0, 1));
  EXPECT_DOUBLE_EQ(metric->score(counts.sum()), 50);
  EXPECT_EQ(metric->to_json(counts.sum()).at("equal"), 2);
  EXPECT_DOUBLE_EQ(corpus_score(*metric, {}, {{}}), 0);
}

TEST(MetricFactory, AnUnknownNameHasASuggestion) {
  EXPECT_THAT([] { make_metric("blue", {}); },
              testing::ThrowsMessage<ConfigError>(
                  "unknown metric 'blue'; did you mean 'bleu'? Known: bleu, chrf, chrf++, ter, "
                  "wer, cer, per, exact"));
}

}  // namespace
}  // namespace regard::metric_factory_test
