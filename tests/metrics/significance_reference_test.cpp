// Confidence intervals and p-values compared with sacreBLEU 2.6.0, which draws other random
// numbers.
#include "metrics/significance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/metric_factory.h"
#include "tests/metrics/metric_cases.h"

namespace regard::significance_reference_test {
namespace {

struct Case {
  explicit Case(const Json& entry)
      : row(entry), metric(make_metric(entry.at("metric").get<std::string>(), {})) {
    const Json& texts = metric_cases().at("significance");
    const References references = texts.at("references");
    for (const Json& lines : texts.at("hypotheses")) {
      systems.push_back(metric->count(lines.get<std::vector<std::string>>(), references));
    }
  }
  double score(std::size_t s) const { return metric->score(systems[s].sum()); }
  const Json& wanted(std::size_t s) const { return row.at("systems").at(s); }

  const Json& row;
  std::unique_ptr<const CorpusMetric> metric;
  std::vector<SentenceCounts> systems;
};

// Three standard errors of the difference of two estimates of a proportion, of `samples` each.
double tolerance(double p, double samples) {
  return 3 * std::sqrt(2 * (p * (1 - p) + 1 / samples) / samples);
}

TEST(SignificanceReference, AgreesWithSacreBleuWithinTheSamplingError) {
  const Resampling resampling;
  for (const Json& row : metric_cases().at("significance").at("rows")) {
    const Case given(row);
    const bool bootstrap = row.at("test") == "bs";
    const auto baseline = bootstrap_scores(*given.metric, given.systems[0], resampling);
    for (std::size_t s = 0; s < given.systems.size(); ++s) {
      SCOPED_TRACE(row.at("signature").dump() + " system " + std::to_string(s));
      expect_same(given.score(s), given.wanted(s).at("score"));
      const auto scores = bootstrap_scores(*given.metric, given.systems[s], resampling);
      const auto interval = confidence_interval(scores);
      const double half_width = given.wanted(s).at("half_width");
      // Both means have the standard error half_width / 1.96 / √1000.
      EXPECT_NEAR(interval.mean, given.wanted(s).at("mean"), 0.08 * half_width);
      EXPECT_NEAR(interval.half_width, half_width, 0.12 * half_width);
      if (s == 0) continue;
      const double p =
          bootstrap ? paired_bootstrap(baseline, scores, std::abs(given.score(s) - given.score(0)))
                    : approximate_randomisation(*given.metric, given.systems[0], given.systems[s],
                                                resampling);
      const double wanted = given.wanted(s).at("p");
      const auto samples = bootstrap ? resampling.resamples : resampling.trials;
      EXPECT_NEAR(p, wanted, tolerance(wanted, static_cast<double>(samples)));
    }
  }
}

}  // namespace
}  // namespace regard::significance_reference_test
