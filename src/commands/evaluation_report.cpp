#include "commands/evaluation_report.h"

#include <fmt/format.h>

#include <limits>

#include "base/counted.h"
#include "base/suggest.h"
#include "commands/evaluation_tables.h"
#include "report/format.h"
#include "report/line_chart.h"
#include "report/table.h"

namespace regard {
namespace {

// One system's scores, each with its signature.
std::string score_lines(const Evaluation& e) {
  std::string text;
  for (std::size_t m = 0; m < e.metrics.size(); ++m) {
    const auto& metric = *e.metrics[m];
    const auto& score = e.systems[0].scores[m];
    text += fmt::format("{} = {:.2f}", metric.name(), score.score);
    if (score.confidence) {
      text += fmt::format(" (μ = {:.2f} ± {:.2f})", score.confidence->mean,
                          score.confidence->half_width);
    }
    const auto remark = metric.remark(score.sums);
    if (!remark.empty()) text += " " + remark;
    text += "\n  " + signature_of(metric, e) + "\n";
  }
  return text;
}

std::string model_lines(const Evaluation& e) {
  std::string text;
  if (e.reference.perplexity) {
    text += fmt::format("perplexity = {}\n  of the first reference, a token, </s> included\n",
                        format_fixed(*e.reference.perplexity, 2));
  }
  if (e.reference.alignment) {
    text +=
        fmt::format("AER = {:.4f}\n  precision {:.4f}, recall {:.4f}, {} against {}\n",
                    e.reference.alignment->error_rate, e.reference.alignment->precision,
                    e.reference.alignment->recall, counted(e.reference.alignment->proposed, "link"),
                    e.reference.alignment->sure);
  }
  return text;
}

// `line` has the places of a metric's name and signature.
std::string signatures(const Evaluation& e, fmt::format_string<std::string, std::string> line) {
  std::string text;
  for (const auto& metric : e.metrics) {
    text += fmt::format(line, metric->name(), signature_of(*metric, e));
  }
  return text;
}

std::string markdown(const Evaluation& e) {
  auto text = score_table(e).markdown() + "\n" + signatures(e, "- {}: `{}`\n");
  for (const auto& table : bucket_tables(e)) text += "\n" + table.markdown();
  return text;
}

std::string latex(const Evaluation& e) {
  auto text = signatures(e, "% {}: {}\n") + score_table(e).latex();
  for (const auto& table : bucket_tables(e)) text += "\n" + table.latex();
  return text;
}

Json score_json(const CorpusMetric& metric, const Score& score, const Evaluation& e) {
  auto json = metric.figures(score.sums);
  if (score.confidence) {
    json["confidence"] = {{"mean", score.confidence->mean},
                          {"half_width", score.confidence->half_width}};
  }
  if (score.p) json["p"] = *score.p;
  json["signature"] = signature_of(metric, e);
  return json;
}

void add_scores(Json& json, const SystemEvaluation& system, const Evaluation& e) {
  for (std::size_t m = 0; m < e.metrics.size(); ++m) {
    json[e.plan.metrics[m]] = score_json(*e.metrics[m], system.scores[m], e);
  }
}

// Null where there is nothing to have a figure of.
Json of_any(std::int64_t count, double figure) {
  return count == 0 ? Json() : Json(figure);
}

Json bucket_json(const LengthBucket& bucket, const Evaluation& e) {
  Json json = {{"shortest", bucket.shortest},
               {"longest", bucket.longest ? Json(*bucket.longest) : Json()},
               {"sentences", bucket.sentences}};
  for (std::size_t m = 0; m < bucket.scores.size(); ++m) {
    json[e.plan.metrics[m]] = of_any(static_cast<std::int64_t>(bucket.sentences), bucket.scores[m]);
  }
  return json;
}

Json bucket_json(const FrequencyBucket& bucket, const Evaluation& /*e*/) {
  return {{"rarest", bucket.rarest},
          {"commonest", bucket.commonest ? Json(*bucket.commonest) : Json()},
          {"reference", bucket.reference},
          {"system", bucket.system},
          {"matches", bucket.matches},
          {"precision", of_any(bucket.system, bucket.precision())},
          {"recall", of_any(bucket.reference, bucket.recall())},
          {"f1", of_any(bucket.system + bucket.reference, bucket.f1())}};
}

template <typename Bucket>
Json buckets_json(const std::vector<Bucket>& buckets, const Evaluation& e) {
  auto json = Json::array();
  for (const auto& bucket : buckets) json.push_back(bucket_json(bucket, e));
  return json;
}

Json systems_json(const Evaluation& e) {
  auto json = Json::array();
  for (const auto& system : e.systems) {
    json.push_back({{"name", system.name}});
    add_scores(json.back(), system, e);
    if (!system.by_frequency.empty()) {
      json.back()["by_frequency"] = buckets_json(system.by_frequency, e);
    }
  }
  return json;
}

}  // namespace

ReportFormat report_format_named(const std::string& name) {
  const std::vector<std::string> names = {"text", "json", "markdown", "latex"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<ReportFormat>(i);
  }
  throw unknown_name("format", name, names);
}

std::string to_text(const Evaluation& e) {
  auto text = e.systems.size() == 1 ? score_lines(e)
                                    : score_table(e).text() + "\n" + signatures(e, "{}\n  {}\n");
  text += model_lines(e);
  for (const auto& table : bucket_tables(e)) text += "\n" + table.text();
  return text;
}

Json to_json(const AlignmentScore& score) {
  return {{"error_rate", score.error_rate},
          {"precision", score.precision},
          {"recall", score.recall},
          {"proposed", score.proposed},
          {"sure", score.sure}};
}

Json to_json(const Evaluation& e) {
  const auto& first = e.systems.front();
  Json json{{"sentences", e.sentences}, {"references", e.references}};
  add_scores(json, first, e);
  if (e.reference.perplexity) json["perplexity"] = *e.reference.perplexity;
  if (e.reference.alignment) json["alignment"] = to_json(*e.reference.alignment);
  if (!first.by_length.empty()) json["by_length"] = buckets_json(first.by_length, e);
  if (!first.by_frequency.empty()) json["by_frequency"] = buckets_json(first.by_frequency, e);
  for (std::size_t s = 1; s < e.systems.size() && !first.by_length.empty(); ++s) {
    json["compared"][e.systems[s].name] = buckets_json(e.systems[s].by_length, e);
  }
  if (e.systems.size() > 1) json["systems"] = systems_json(e);
  return json;
}

std::string report(const Evaluation& evaluation, ReportFormat format) {
  switch (format) {
    case ReportFormat::json:
      return to_text(to_json(evaluation), 2) + "\n";
    case ReportFormat::markdown:
      return markdown(evaluation);
    case ReportFormat::latex:
      return latex(evaluation);
    case ReportFormat::text:
      break;
  }
  return to_text(evaluation);
}

std::string by_length_svg(const Evaluation& evaluation) {
  LineChart chart;
  const auto name = evaluation.metrics[0]->name();
  chart.title = name + " by source length";
  chart.x_label = "source words";
  chart.y_label = name;
  chart.y_min = 0;
  for (const auto& system : evaluation.systems) {
    chart.series.push_back({system.name, {}});
    for (std::size_t b = 0; b < system.by_length.size(); ++b) {
      const auto& bucket = system.by_length[b];
      const auto gap = std::numeric_limits<double>::quiet_NaN();
      chart.series.back().points.emplace_back(static_cast<double>(b),
                                              bucket.sentences == 0 ? gap : bucket.scores[0]);
    }
  }
  const auto& buckets = evaluation.systems.front().by_length;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    chart.x_ticks.emplace_back(static_cast<double>(b), name_of(buckets[b]));
  }
  return line_chart_svg(chart);
}

}  // namespace regard
