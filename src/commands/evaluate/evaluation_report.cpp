#include "commands/evaluate/evaluation_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>

#include "base/strings.h"
#include "report/format.h"
#include "report/line_chart.h"
#include "report/table.h"

namespace regard {
namespace {

std::string range(std::uint64_t first, std::optional<std::uint64_t> last) {
  if (!last) return fmt::format("{}+", first);
  return first == *last ? fmt::format("{}", first) : fmt::format("{}–{}", first, *last);
}

std::string frequency_label(const FrequencyBucket& bucket) {
  return range(bucket.rarest, bucket.commonest);
}

std::string bucket_label(const LabelBucket& bucket) {
  return bucket.label;
}

std::string score_cell(const MetricScore& score) {
  auto text = fmt::format("{:.2f}", score.value);
  if (score.confidence) {
    text += fmt::format(" ({:.2f} ± {:.2f})", score.confidence->mean, score.confidence->half_width);
  }
  if (score.p_value) {
    text += fmt::format(" (p = {:.4f}){}", *score.p_value, *score.p_value < 0.05 ? "*" : "");
  }
  return text;
}

std::string score_cell(const SentenceBucket& bucket, double score) {
  return bucket.sentences == 0 ? "" : fmt::format("{:.2f}", score);
}

// Returns a fraction of `words` in per cent; "" if there are no words.
std::string percent_cell(std::int64_t words, double fraction) {
  return words == 0 ? "" : fmt::format("{:.2f}", 100 * fraction);
}

// Returns the table of the buckets of `member`, such as &SystemEvaluation::by_length, whose first
// column is `title`.
template <typename Bucket>
Table sentence_bucket_table(const Evaluation& evaluation,
                            std::vector<Bucket> SystemEvaluation::*member,
                            const Table::Column& title) {
  std::vector<Table::Column> columns = {title, {"sentences", Align::right}};
  for (const auto& metric : evaluation.metrics) columns.push_back({metric->name(), Align::right});
  const auto& systems = evaluation.systems;
  for (std::size_t s = 1; s < systems.size(); ++s) {
    columns.push_back({evaluation.metrics[0]->name() + " of " + systems[s].name, Align::right});
  }
  Table table(columns);
  for (std::size_t b = 0; b < (systems[0].*member).size(); ++b) {
    const auto& bucket = (systems[0].*member)[b];
    std::vector<std::string> row = {bucket_label(bucket),
                                    format_thousands(static_cast<std::int64_t>(bucket.sentences))};
    for (const auto score : bucket.scores) row.push_back(score_cell(bucket, score));
    for (std::size_t s = 1; s < systems.size(); ++s) {
      row.push_back(score_cell(bucket, (systems[s].*member)[b].scores[0]));
    }
    table.add(row);
  }
  return table;
}

Table by_frequency_table(const Evaluation& evaluation) {
  std::vector<Table::Column> columns = {{"times in training", Align::right},
                                        {"words", Align::right},
                                        {"precision", Align::right},
                                        {"recall", Align::right},
                                        {"F1", Align::right}};
  const auto& systems = evaluation.systems;
  for (std::size_t s = 1; s < systems.size(); ++s) {
    columns.push_back({"F1 of " + systems[s].name, Align::right});
  }
  Table table(columns);
  for (std::size_t b = 0; b < systems[0].by_frequency.size(); ++b) {
    const auto& bucket = systems[0].by_frequency[b];
    std::vector<std::string> row = {frequency_label(bucket), format_thousands(bucket.reference),
                                    percent_cell(bucket.system, bucket.precision()),
                                    percent_cell(bucket.reference, bucket.recall()),
                                    percent_cell(bucket.system + bucket.reference, bucket.f1())};
    for (std::size_t s = 1; s < systems.size(); ++s) {
      const auto& other = systems[s].by_frequency[b];
      row.push_back(percent_cell(other.system + other.reference, other.f1()));
    }
    table.add(row);
  }
  return table;
}

// The tables by length, by label and by frequency that were requested, with the systems side by
// side.
std::vector<Table> bucket_tables(const Evaluation& evaluation) {
  std::vector<Table> tables;
  const auto& first = evaluation.systems[0];
  if (!first.by_length.empty()) {
    tables.push_back(sentence_bucket_table(evaluation, &SystemEvaluation::by_length,
                                           {"source words", Align::right}));
  }
  if (!first.by_label.empty()) {
    tables.push_back(sentence_bucket_table(evaluation, &SystemEvaluation::by_label, {"label"}));
  }
  if (!first.by_frequency.empty()) {
    tables.push_back(by_frequency_table(evaluation));
  }
  return tables;
}

// One system's scores, each with its signature.
std::string score_lines(const Evaluation& e) {
  std::string text;
  for (std::size_t m = 0; m < e.metrics.size(); ++m) {
    const auto& metric = *e.metrics[m];
    const auto& score = e.systems[0].scores[m];
    text += fmt::format("{} = {:.2f}", metric.name(), score.value);
    if (score.confidence) {
      text += fmt::format(" (μ = {:.2f} ± {:.2f})", score.confidence->mean,
                          score.confidence->half_width);
    }
    const auto details = metric.details(score.sums);
    if (!details.empty()) text += " " + details;
    text += "\n  " + signature_of(metric, e) + "\n";
  }
  return text;
}

std::string reference_lines(const ReferenceScores& scores) {
  std::string text;
  if (scores.perplexity) {
    text += fmt::format("perplexity = {}\n  of the first reference, per token, </s> included\n",
                        format_fixed(*scores.perplexity, 2));
  }
  if (scores.alignment) {
    text += fmt::format("AER = {:.4f}\n  precision {:.4f}, recall {:.4f}, {} against {}\n",
                        scores.alignment->error_rate, scores.alignment->precision,
                        scores.alignment->recall, counted(scores.alignment->proposed, "link"),
                        scores.alignment->sure);
  }
  return text;
}

// `line` is a format string for a metric's name and signature.
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

Json score_json(const CorpusMetric& metric, const MetricScore& score, const Evaluation& e) {
  auto json = metric.to_json(score.sums);
  if (score.confidence) {
    json["confidence"] = {{"mean", score.confidence->mean},
                          {"half_width", score.confidence->half_width}};
  }
  if (score.p_value) json["p"] = *score.p_value;
  json["signature"] = signature_of(metric, e);
  return json;
}

void add_scores(Json& json, const SystemEvaluation& system, const Evaluation& e) {
  for (std::size_t m = 0; m < e.metrics.size(); ++m) {
    json[e.options.metrics[m]] = score_json(*e.metrics[m], system.scores[m], e);
  }
  const auto& [perplexity, alignment] = system.reference;
  if (perplexity) json["perplexity"] = *perplexity;
  if (alignment) json["alignment"] = to_json(*alignment);
}

// Returns null if the count is 0.
Json or_null(std::int64_t count, double value) {
  return count == 0 ? Json() : Json(value);
}

Json with_scores(Json json, const SentenceBucket& bucket, const Evaluation& e) {
  json["sentences"] = bucket.sentences;
  for (std::size_t m = 0; m < bucket.scores.size(); ++m) {
    json[e.options.metrics[m]] =
        or_null(static_cast<std::int64_t>(bucket.sentences), bucket.scores[m]);
  }
  return json;
}

Json bucket_json(const LengthBucket& bucket, const Evaluation& e) {
  return with_scores(
      {{"shortest", bucket.shortest}, {"longest", bucket.longest ? Json(*bucket.longest) : Json()}},
      bucket, e);
}

Json bucket_json(const LabelBucket& bucket, const Evaluation& e) {
  return with_scores({{"label", bucket.label}}, bucket, e);
}

Json bucket_json(const FrequencyBucket& bucket, const Evaluation& /*e*/) {
  return {{"rarest", bucket.rarest},
          {"commonest", bucket.commonest ? Json(*bucket.commonest) : Json()},
          {"reference", bucket.reference},
          {"system", bucket.system},
          {"matches", bucket.matches},
          {"precision", or_null(bucket.system, bucket.precision())},
          {"recall", or_null(bucket.reference, bucket.recall())},
          {"f1", or_null(bucket.system + bucket.reference, bucket.f1())}};
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
    if (!system.by_label.empty()) json.back()["by_label"] = buckets_json(system.by_label, e);
    if (!system.by_frequency.empty()) {
      json.back()["by_frequency"] = buckets_json(system.by_frequency, e);
    }
  }
  return json;
}

// The JSON of sacreBLEU 2 for one system: an object for each metric, in an array if there are
// several, with scores of one decimal and a key for each part of the signature.
Json sacrebleu_json(const Evaluation& e) {
  auto all = Json::array();
  const auto rounded = [](double value) { return std::stod(fmt::format("{:.1f}", value)); };
  for (std::size_t m = 0; m < e.metrics.size(); ++m) {
    const auto& metric = *e.metrics[m];
    const auto& score = e.systems[0].scores[m];
    const auto signature = signature_of(metric, e);
    Json json = {
        {"name", metric.name()}, {"score", rounded(score.value)}, {"signature", signature}};
    if (score.confidence) {
      const auto& [mean, half_width] = *score.confidence;
      json["confidence_mean"] = rounded(mean);
      json["confidence_var"] = rounded(half_width);
      json["confidence"] = fmt::format("μ = {:.1f} ± {:.1f}", mean, half_width);
    }
    const auto details = metric.details(score.sums);
    if (!details.empty()) json["verbose_score"] = details;
    for (const auto& part : split(signature, '|')) {
      const auto colon = part.find(':');
      json[std::string(part.substr(0, colon))] = std::string(part.substr(colon + 1));
    }
    all.push_back(std::move(json));
  }
  return all.size() == 1 ? all[0] : all;
}

}  // namespace

Table score_table(const Evaluation& evaluation) {
  const auto& systems = evaluation.systems;
  std::vector<Table::Column> columns = {{"system"}};
  for (std::size_t m = 0; m < evaluation.metrics.size(); ++m) {
    const bool interval = systems[0].scores[m].confidence.has_value();
    columns.push_back(
        {evaluation.metrics[m]->name() + (interval ? " (μ ± 95% CI)" : ""), Align::right});
  }
  const auto& of_first = systems[0].reference;  // models come first
  if (of_first.perplexity) columns.push_back({"perplexity", Align::right});
  if (of_first.alignment) columns.push_back({"AER", Align::right});
  Table table(columns);
  for (const auto& system : systems) {
    const bool first = &system == &systems.front();
    std::vector<std::string> row = {system.name};
    if (first && evaluation.options.test != PairedTest::none) row[0] += " (baseline)";
    for (const auto& score : system.scores) row.push_back(score_cell(score));
    const auto& [perplexity, alignment] = system.reference;
    if (perplexity) row.push_back(format_fixed(*perplexity, 2));
    if (alignment) row.push_back(fmt::format("{:.4f}", alignment->error_rate));
    table.add(row);
  }
  return table;
}

std::string to_text(const Evaluation& e) {
  std::string text;
  if (!e.ensemble.empty()) {
    text = fmt::format("ensemble of {}: {}\n", counted(e.ensemble.size(), "model"),
                       fmt::join(e.ensemble, ", "));
  }
  text += e.systems.size() == 1 ? score_lines(e)
                                : score_table(e).text() + "\n" + signatures(e, "{}\n  {}\n");
  text += reference_lines(e.systems[0].reference);
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
  if (!e.ensemble.empty()) json["ensemble"] = e.ensemble;
  add_scores(json, first, e);
  if (!first.by_length.empty()) json["by_length"] = buckets_json(first.by_length, e);
  if (!first.by_label.empty()) json["by_label"] = buckets_json(first.by_label, e);
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
    case ReportFormat::sacrebleu:
      return to_text(sacrebleu_json(evaluation), 1) + "\n";
    case ReportFormat::markdown:
      return markdown(evaluation);
    case ReportFormat::latex:
      return latex(evaluation);
    case ReportFormat::text:
      break;
  }
  return to_text(evaluation);
}

std::string sentence_report(const Evaluation& e, ReportFormat format) {
  std::string text;
  auto lines = Json::array();
  for (std::size_t i = 0; i < e.sentences; ++i) {
    Json line = {{"line", i + 1}};
    for (const auto& system : e.systems) {
      Json scores = {{"name", system.name}};
      for (std::size_t m = 0; m < e.metrics.size(); ++m) {
        const auto score = e.metrics[m]->score(system.scores[m].counts.sentence(i));
        scores[e.options.metrics[m]] = score;
        if (&system == &e.systems.front()) line[e.options.metrics[m]] = score;
        const bool is_first = m == 0 && &system == &e.systems.front();
        text += fmt::format("{}{:.2f}", is_first ? "" : "\t", score);
      }
      if (e.systems.size() > 1) line["systems"].push_back(std::move(scores));
    }
    text += "\n";
    lines.push_back(std::move(line));
  }
  return format == ReportFormat::json ? to_text(lines, 2) + "\n" : text;
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
    chart.x_ticks.emplace_back(static_cast<double>(b), bucket_label(buckets[b]));
  }
  return line_chart_svg(chart);
}

std::string bucket_label(const LengthBucket& bucket) {
  return range(bucket.shortest, bucket.longest);
}

}  // namespace regard
