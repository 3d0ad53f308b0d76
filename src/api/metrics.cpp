#include "regard/metrics.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "config/reader.h"
#include "metrics/metric_factory.h"
#include "metrics/system_scores.h"
#include "text/unicode.h"

namespace regard {
namespace {

void check_utf8(const std::vector<std::string>& lines, const std::string& name) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto at = first_invalid_utf8(lines[i]); at != std::string_view::npos) {
      throw InputError("{}:{}: byte {} is not UTF-8", name, i + 1, at + 1);
    }
  }
}

void check_texts(const std::vector<std::string>& hypotheses, const References& references) {
  check_references(hypotheses.size(), references);
  check_utf8(hypotheses, "hypothesis");
  for (std::size_t r = 0; r < references.size(); ++r) {
    const auto name = references.size() == 1 ? "reference" : fmt::format("reference {}", r + 1);
    check_utf8(references[r], name);
    if (std::ranges::all_of(references[r], is_blank)) {
      throw InputError("{}: empty, so there is nothing to score", name);
    }
  }
}

}  // namespace

std::vector<CorpusScore> evaluate(const std::vector<std::string>& hypotheses,
                                  const std::vector<std::vector<std::string>>& references,
                                  const std::vector<std::string>& metrics,
                                  const std::vector<std::string>& options) {
  MetricSettings settings;
  for (const auto& option : options) assign_option(settings, option, "evaluation option");
  if (settings.paired_bs || settings.paired_ar) {
    throw ConfigError("paired_bs, paired_ar: found one system, but a paired test compares several");
  }
  for (const auto& name : metrics) make_metric(name, {});  // an unknown metric is the first error
  check_metric_settings(settings, metrics, false,
                        [](std::string_view key) { return std::string(key); });
  const auto checked = evaluation_options(metrics, settings);
  check_texts(hypotheses, references);
  const auto evaluation = score_systems({{"", hypotheses}}, references, checked);
  std::vector<CorpusScore> scores;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const auto& metric = *evaluation.metrics[m];
    const auto& [value, counts, sums, confidence, p_value] = evaluation.systems[0].scores[m];
    constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();
    scores.push_back({metrics[m],
                      metric.name(),
                      value,
                      signature_of(metric, evaluation),
                      metric.details(sums),
                      {},
                      confidence ? confidence->mean : unknown,
                      confidence ? confidence->half_width : unknown});
    if (!settings.sentence_level) continue;
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      scores.back().sentence_scores.push_back(metric.score(counts.sentence(i)));
    }
  }
  return scores;
}

}  // namespace regard
