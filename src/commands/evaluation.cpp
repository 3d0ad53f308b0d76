#include "commands/evaluation.h"

#include <fmt/format.h>

#include <limits>

#include "report/format.h"
#include "report/line_chart.h"
#include "report/table.h"

namespace regard {
namespace {

std::string name_of(const LengthBucket& bucket) {
  if (!bucket.longest) return fmt::format("{}+", bucket.shortest);
  return fmt::format("{}–{}", bucket.shortest, *bucket.longest);
}

std::string figure(const LengthBucket& bucket, double score) {
  return bucket.sentences == 0 ? "" : fmt::format("{:.2f}", score);
}

std::string by_length_table(const Evaluation& evaluation) {
  std::vector<Table::Column> columns = {{"source words", Align::right},
                                        {"sentences", Align::right},
                                        {"BLEU", Align::right},
                                        {chrf_name(evaluation.options.chrf), Align::right}};
  for (const auto& [name, buckets] : evaluation.compared) {
    columns.push_back({"BLEU of " + name, Align::right});
  }
  Table table(columns);
  for (std::size_t b = 0; b < evaluation.by_length.size(); ++b) {
    const auto& bucket = evaluation.by_length[b];
    std::vector<std::string> row = {name_of(bucket),
                                    format_thousands(static_cast<std::int64_t>(bucket.sentences)),
                                    figure(bucket, bucket.bleu.score), figure(bucket, bucket.chrf)};
    for (const auto& [name, buckets] : evaluation.compared) {
      row.push_back(figure(buckets[b], buckets[b].bleu.score));
    }
    table.add(row);
  }
  return table.text();
}

Json bucket_json(const LengthBucket& bucket) {
  const bool empty = bucket.sentences == 0;
  return {{"shortest", bucket.shortest},
          {"longest", bucket.longest ? Json(*bucket.longest) : Json()},
          {"sentences", bucket.sentences},
          {"bleu", empty ? Json() : Json(bucket.bleu.score)},
          {"chrf", empty ? Json() : Json(bucket.chrf)}};
}

}  // namespace

Evaluation evaluate_texts(const std::vector<std::string>& hypotheses, const References& references,
                          const MetricOptions& options) {
  Evaluation evaluation;
  evaluation.sentences = hypotheses.size();
  evaluation.references = references.size();
  evaluation.options = options;
  evaluation.bleu = corpus_bleu(hypotheses, references, options.bleu);
  evaluation.chrf = corpus_chrf(hypotheses, references, options.chrf);
  return evaluation;
}

std::string to_text(const Evaluation& e) {
  auto text =
      fmt::format("BLEU = {:.2f} {}\n  {}\n{} = {:.2f}\n  {}\n", e.bleu.score, bleu_remark(e.bleu),
                  bleu_signature(e.options.bleu, e.references), chrf_name(e.options.chrf), e.chrf,
                  chrf_signature(e.options.chrf, e.references));
  if (e.perplexity) {
    text += fmt::format("perplexity = {:.2f}\n  of the first reference, a token, </s> included\n",
                        *e.perplexity);
  }
  if (e.alignment) {
    text += fmt::format("AER = {:.4f}\n  precision {:.4f}, recall {:.4f}, {} links against {}\n",
                        e.alignment->error_rate, e.alignment->precision, e.alignment->recall,
                        e.alignment->proposed, e.alignment->sure);
  }
  if (!e.by_length.empty()) text += "\n" + by_length_table(e);
  return text;
}

Json to_json(const Evaluation& e) {
  Json json{{"sentences", e.sentences},
            {"references", e.references},
            {"bleu",
             {{"score", e.bleu.score},
              {"precisions", e.bleu.precisions},
              {"brevity_penalty", e.bleu.brevity_penalty},
              {"system_length", e.bleu.statistics.system_length},
              {"reference_length", e.bleu.statistics.reference_length},
              {"signature", bleu_signature(e.options.bleu, e.references)}}},
            {"chrf",
             {{"name", chrf_name(e.options.chrf)},
              {"score", e.chrf},
              {"signature", chrf_signature(e.options.chrf, e.references)}}}};
  if (e.perplexity) json["perplexity"] = *e.perplexity;
  if (e.alignment) {
    json["alignment"] = {{"error_rate", e.alignment->error_rate},
                         {"precision", e.alignment->precision},
                         {"recall", e.alignment->recall},
                         {"proposed", e.alignment->proposed},
                         {"sure", e.alignment->sure}};
  }
  if (!e.by_length.empty()) {
    json["by_length"] = Json::array();
    for (const auto& bucket : e.by_length) json["by_length"].push_back(bucket_json(bucket));
    for (const auto& [name, buckets] : e.compared) {
      auto& list = json["compared"][name] = Json::array();
      for (const auto& bucket : buckets) list.push_back(bucket_json(bucket));
    }
  }
  return json;
}

std::string by_length_svg(const Evaluation& evaluation) {
  LineChart chart;
  chart.title = "BLEU by source length";
  chart.x_label = "source words";
  chart.y_label = "BLEU";
  chart.y_min = 0;
  const auto draw = [&](const std::string& name, const std::vector<LengthBucket>& buckets,
                        const auto& score) {
    chart.series.push_back({name, {}});
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const auto gap = std::numeric_limits<double>::quiet_NaN();
      chart.series.back().points.emplace_back(static_cast<double>(b),
                                              buckets[b].sentences == 0 ? gap : score(buckets[b]));
    }
  };
  const auto bleu = [](const LengthBucket& bucket) { return bucket.bleu.score; };
  draw(evaluation.name, evaluation.by_length, bleu);
  for (const auto& [name, buckets] : evaluation.compared) draw(name, buckets, bleu);
  for (std::size_t b = 0; b < evaluation.by_length.size(); ++b) {
    chart.x_ticks.emplace_back(static_cast<double>(b), name_of(evaluation.by_length[b]));
  }
  return line_chart_svg(chart);
}

}  // namespace regard
