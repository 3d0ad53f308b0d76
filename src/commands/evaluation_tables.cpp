#include "commands/evaluation_tables.h"

#include <fmt/format.h>

#include <optional>

#include "report/format.h"

namespace regard {
namespace {

std::string range(std::uint64_t first, std::optional<std::uint64_t> last) {
  if (!last) return fmt::format("{}+", first);
  return first == *last ? fmt::format("{}", first) : fmt::format("{}–{}", first, *last);
}

std::string cell(const Score& score) {
  auto text = fmt::format("{:.2f}", score.score);
  if (score.confidence) {
    text += fmt::format(" ({:.2f} ± {:.2f})", score.confidence->mean, score.confidence->half_width);
  }
  if (score.p) text += fmt::format(" (p = {:.4f}){}", *score.p, *score.p < 0.05 ? "*" : "");
  return text;
}

std::string figure(const LengthBucket& bucket, double score) {
  return bucket.sentences == 0 ? "" : fmt::format("{:.2f}", score);
}

// Per cent.
std::string figure(std::int64_t words, double share) {
  return words == 0 ? "" : fmt::format("{:.2f}", 100 * share);
}

Table by_length_table(const Evaluation& evaluation) {
  std::vector<Table::Column> columns = {{"source words", Align::right},
                                        {"sentences", Align::right}};
  for (const auto& metric : evaluation.metrics) columns.push_back({metric->name(), Align::right});
  const auto& systems = evaluation.systems;
  for (std::size_t s = 1; s < systems.size(); ++s) {
    columns.push_back({evaluation.metrics[0]->name() + " of " + systems[s].name, Align::right});
  }
  Table table(columns);
  for (std::size_t b = 0; b < systems[0].by_length.size(); ++b) {
    const auto& bucket = systems[0].by_length[b];
    std::vector<std::string> row = {name_of(bucket),
                                    format_thousands(static_cast<std::int64_t>(bucket.sentences))};
    for (const auto score : bucket.scores) row.push_back(figure(bucket, score));
    for (std::size_t s = 1; s < systems.size(); ++s) {
      row.push_back(figure(bucket, systems[s].by_length[b].scores[0]));
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
    std::vector<std::string> row = {name_of(bucket), format_thousands(bucket.reference),
                                    figure(bucket.system, bucket.precision()),
                                    figure(bucket.reference, bucket.recall()),
                                    figure(bucket.system + bucket.reference, bucket.f1())};
    for (std::size_t s = 1; s < systems.size(); ++s) {
      const auto& other = systems[s].by_frequency[b];
      row.push_back(figure(other.system + other.reference, other.f1()));
    }
    table.add(row);
  }
  return table;
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
  if (evaluation.reference.perplexity) columns.push_back({"perplexity", Align::right});
  if (evaluation.reference.alignment) columns.push_back({"AER", Align::right});
  Table table(columns);
  for (const auto& system : systems) {
    const bool first = &system == &systems.front();
    std::vector<std::string> row = {system.name};
    if (first && evaluation.plan.test != PairedTest::none) row[0] += " (baseline)";
    for (const auto& score : system.scores) row.push_back(cell(score));
    if (first && evaluation.reference.perplexity)
      row.push_back(format_fixed(*evaluation.reference.perplexity, 2));
    if (first && evaluation.reference.alignment) {
      row.push_back(fmt::format("{:.4f}", evaluation.reference.alignment->error_rate));
    }
    table.add(row);
  }
  return table;
}

std::vector<Table> bucket_tables(const Evaluation& evaluation) {
  std::vector<Table> tables;
  if (!evaluation.systems[0].by_length.empty()) tables.push_back(by_length_table(evaluation));
  if (!evaluation.systems[0].by_frequency.empty()) {
    tables.push_back(by_frequency_table(evaluation));
  }
  return tables;
}

std::string name_of(const LengthBucket& bucket) {
  return range(bucket.shortest, bucket.longest);
}

std::string name_of(const FrequencyBucket& bucket) {
  return range(bucket.rarest, bucket.commonest);
}

}  // namespace regard
