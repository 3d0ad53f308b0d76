#include "commands/report/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/choice.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/evaluate/evaluation_report.h"
#include "config/writer.h"
#include "metrics/chrf.h"
#include "report/format.h"
#include "report/learning_curves.h"
#include "report/line_chart.h"
#include "report/page.h"
#include "report/xml.h"
#include "training/early_stopping.h"

namespace regard {
namespace {

constexpr const char* seed_key = "training.random_seed";

// True if the option names the run.
bool is_name(const std::string& key) {
  return key == "name" || key == "training.model_dir";
}

// Returns the keys that differ from those of the first run, in any run.
std::vector<std::string> differing_keys(const std::vector<RunRecord>& runs) {
  std::vector<std::string> keys;
  for (const auto& run : runs) {
    for (const auto& difference : option_differences(runs[0].options, run.options)) {
      if (is_name(difference.key) || std::ranges::count(keys, difference.key) > 0) continue;
      keys.push_back(difference.key);
    }
  }
  return keys;
}

// Returns the columns of validations.tsv that are scores, of all runs.
std::vector<std::string> metrics_of(const std::vector<RunRecord>& runs) {
  std::vector<std::string> metrics;
  for (const auto& metric : choice_names<Metric>()) {
    const auto has_score = [&](const RunRecord& run) {
      return !std::isnan(run.value_at_best(metric));
    };
    if (metric != "perplexity" && std::ranges::any_of(runs, has_score)) metrics.push_back(metric);
  }
  return metrics;
}

// Groups the runs that have the same values of all keys except the seed.
std::vector<SeedGroup> seed_groups(const RunComparison& comparison) {
  const auto same_except_seed = [&](const ComparedRun& a, const ComparedRun& b) {
    for (std::size_t k = 0; k < comparison.keys.size(); ++k) {
      if (comparison.keys[k] != seed_key && a.values[k] != b.values[k]) return false;
    }
    return true;
  };
  const auto& runs = comparison.runs;
  std::vector<SeedGroup> groups;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto known = std::ranges::find_if(groups, [&](const SeedGroup& group) {
      return same_except_seed(runs[group.runs[0]], runs[r]);
    });
    if (known != groups.end()) {
      known->runs.push_back(r);
    } else {
      groups.push_back({{r}, {}, {}});
    }
  }
  std::erase_if(groups, [](const SeedGroup& group) { return group.runs.size() < 2; });
  for (auto& group : groups) {
    const auto count = static_cast<double>(group.runs.size());
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      double sum = 0;
      for (const auto r : group.runs) sum += runs[r].scores[m];
      double squares = 0;
      for (const auto r : group.runs) squares += std::pow(runs[r].scores[m] - sum / count, 2);
      group.means.push_back(sum / count);
      group.deviations.push_back(std::sqrt(squares / (count - 1)));
    }
  }
  return groups;
}

// Returns the validation texts of the runs, empty if they differ in source or reference.
std::vector<ScoredText> shared_texts(const std::vector<RunRecord>& runs) {
  std::vector<ScoredText> texts;
  for (const auto& run : runs) {
    auto text = validation_text(run);
    if (!text) return {};
    if (!texts.empty() &&
        (text->sources != texts[0].sources || text->references != texts[0].references)) {
      log::warning("{} and {} were validated on different texts, so their scores are not compared",
                   runs[0].path.string(), run.path.string());
      return {};
    }
    texts.push_back(std::move(*text));
  }
  return texts;
}

// Scores the texts with BLEU, chrF and the metrics that selected the best validations.
Evaluation score_texts(const std::vector<RunRecord>& runs, const RunComparison& comparison) {
  EvaluationOptions options;
  options.metrics = {"bleu", "chrf"};
  for (const auto& run : runs) {
    const auto metric = run.options.training.early_stopping_metric;
    const auto name = std::string(enum_name(metric));
    if (is_optional(metric) && std::ranges::count(options.metrics, name) == 0) {
      options.metrics.push_back(name);
    }
  }
  options.confidence = true;
  options.test = PairedTest::bootstrap;
  Systems systems;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    systems.emplace_back(comparison.runs[r].name, comparison.texts[r].hypotheses);
  }
  return score_systems(systems, {comparison.texts[0].references}, options);
}

// Returns each key without the sections that it does not need to differ from the others, and to say
// which list it belongs to: "random_seed" for "training.random_seed".
std::vector<std::string> short_keys(const std::vector<std::string>& keys) {
  std::vector<std::string> titles;
  for (const auto& key : keys) {
    std::size_t begin = key.size() + 1;
    const auto is_ambiguous = [&] {
      const auto title = "." + key.substr(begin);
      const auto ends_alike = [&](const std::string& other) {
        return other != key && ("." + other).ends_with(title);
      };
      const bool is_entry = '0' <= title[1] && title[1] <= '9';  // of a list
      return is_entry || std::ranges::any_of(keys, ends_alike);
    };
    do {
      begin = begin < 2 ? 0 : key.rfind('.', begin - 2) + 1;
    } while (begin > 0 && is_ambiguous());
    titles.push_back(key.substr(begin));
  }
  return titles;
}

std::string metric_text(const std::string& metric, double score) {
  return std::isnan(score) ? "–" : format_fixed(score, metric == "loss" ? 4 : 2);
}

std::string title_of(const std::string& metric) {
  return metric == "bleu" ? "BLEU" : metric == "chrf" ? "chrF" : metric;
}

// A table that scrolls if it is wider than the page.
std::string wide(const Table& table) {
  return "<div class=\"scroll\">\n" + table.html() + "</div>\n";
}

// The sentences on which the translations differ most in chrF, each with all translations.
std::string differing_sentences_html(const RunComparison& comparison, std::size_t count) {
  const auto& texts = comparison.texts;
  if (texts.empty()) return "";
  const auto& references = texts[0].references;
  std::vector<std::vector<double>> chrf(references.size());  // [line][run]
  std::vector<double> spread;
  for (std::size_t i = 0; i < references.size(); ++i) {
    for (const auto& text : texts) {
      chrf[i].push_back(corpus_score(Chrf(), {text.hypotheses[i]}, {{references[i]}}));
    }
    const auto [lowest, highest] = std::ranges::minmax(chrf[i]);
    spread.push_back(highest - lowest);
  }
  std::vector<std::size_t> order(references.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return spread[a] > spread[b]; });
  std::string html;
  for (std::size_t k = 0; k < std::min(count, order.size()); ++k) {
    const auto line = order[k];
    if (spread[line] == 0) break;
    Table table({{""}, {"chrF", Align::right}, {"text"}});
    table.add({"source", "", texts[0].sources[line]});
    table.add({"reference", "", references[line]});
    for (std::size_t r = 0; r < texts.size(); ++r) {
      table.add(
          {comparison.runs[r].name, format_fixed(chrf[line][r], 1), texts[r].hypotheses[line]});
    }
    html += fmt::format("<h3>line {}</h3>\n", line + 1) + table.html();
  }
  return html;
}

}  // namespace

std::vector<RunRecord> read_runs(const std::vector<std::string>& paths) {
  std::vector<RunRecord> runs;
  for (const auto& path : paths) {
    if (!is_run(path)) {
      log::warning("{}: not the folder of a run, left out", path);
      continue;
    }
    runs.push_back(read_run(path));
  }
  if (runs.size() < 2) {
    throw CheckpointError("found {}, expected at least two to compare",
                          counted(runs.size(), "run"));
  }
  return runs;
}

RunComparison compare_runs(const std::vector<RunRecord>& runs) {
  RunComparison comparison;
  comparison.keys = differing_keys(runs);
  comparison.metrics = metrics_of(runs);
  std::vector<std::string> paths;
  for (const auto& run : runs) paths.push_back(run.path.string());
  const auto names = system_names(paths);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    ComparedRun row{names[r], {}, runs[r].best_step, {}, runs[r].validations.training_seconds()};
    for (const auto& key : comparison.keys) {
      row.values.push_back(option_value(runs[r].options, key).value_or("–"));
    }
    for (const auto& metric : comparison.metrics) {
      row.scores.push_back(runs[r].value_at_best(metric));
    }
    comparison.runs.push_back(std::move(row));
  }
  comparison.seeds = seed_groups(comparison);
  comparison.texts = shared_texts(runs);
  if (!comparison.texts.empty()) comparison.evaluation = score_texts(runs, comparison);
  return comparison;
}

Table runs_table(const RunComparison& comparison) {
  std::vector<Table::Column> columns = {{"run"}};
  for (const auto& title : short_keys(comparison.keys)) columns.push_back({title});
  columns.push_back({"best step", Align::right});
  for (const auto& metric : comparison.metrics) columns.push_back({title_of(metric), Align::right});
  columns.push_back({"time", Align::right});
  Table table(columns);
  for (const auto& run : comparison.runs) {
    std::vector<std::string> row = {run.name};
    row.insert(row.end(), run.values.begin(), run.values.end());
    row.push_back(run.step ? format_thousands(*run.step) : "–");
    for (std::size_t m = 0; m < run.scores.size(); ++m) {
      row.push_back(metric_text(comparison.metrics[m], run.scores[m]));
    }
    row.push_back(std::isnan(run.seconds) ? "–" : format_duration(run.seconds));
    table.add(row);
  }
  return table;
}

std::optional<Table> seeds_table(const RunComparison& comparison) {
  if (comparison.seeds.empty()) return std::nullopt;
  std::vector<Table::Column> columns = {{"runs"}, {"seeds", Align::right}};
  const auto titles = short_keys(comparison.keys);
  for (std::size_t k = 0; k < titles.size(); ++k) {
    if (comparison.keys[k] != seed_key) columns.push_back({titles[k]});
  }
  for (const auto& metric : comparison.metrics) columns.push_back({title_of(metric), Align::right});
  Table table(columns);
  for (const auto& group : comparison.seeds) {
    const auto& first = comparison.runs[group.runs[0]];
    std::vector<std::string> row = {first.name + ", …", std::to_string(group.runs.size())};
    for (std::size_t k = 0; k < titles.size(); ++k) {
      if (comparison.keys[k] != seed_key) row.push_back(first.values[k]);
    }
    for (std::size_t m = 0; m < group.means.size(); ++m) {
      const auto& metric = comparison.metrics[m];
      const auto mean = metric_text(metric, group.means[m]);
      row.push_back(std::isnan(group.means[m])
                        ? mean
                        : mean + " ± " + metric_text(metric, group.deviations[m]));
    }
    table.add(row);
  }
  return table;
}

std::string to_text(const RunComparison& comparison) {
  auto text = runs_table(comparison).text();
  if (const auto seeds = seeds_table(comparison)) {
    text += "\nMean ± standard deviation over seeds\n\n" + seeds->text();
  }
  if (comparison.evaluation) {
    text += "\nTranslations of the validation text, * differs from the first run\n\n" +
            to_text(*comparison.evaluation);
  }
  return text;
}

Json to_json(const RunComparison& comparison) {
  Json json = {{"runs", Json::array()}, {"seeds", Json::array()}};
  const auto scores = [&](const std::vector<double>& values) {
    Json object = Json::object();
    for (std::size_t m = 0; m < values.size(); ++m) object[comparison.metrics[m]] = values[m];
    return object;
  };
  for (const auto& run : comparison.runs) {
    Json options = Json::object();
    for (std::size_t k = 0; k < comparison.keys.size(); ++k) {
      options[comparison.keys[k]] = run.values[k];
    }
    json["runs"].push_back({{"name", run.name},
                            {"options", options},
                            {"step", run.step ? Json(*run.step) : Json()},
                            {"scores", scores(run.scores)},
                            {"seconds", run.seconds}});
  }
  for (const auto& group : comparison.seeds) {
    Json names = Json::array();
    for (const auto r : group.runs) names.push_back(comparison.runs[r].name);
    json["seeds"].push_back(
        {{"runs", names}, {"mean", scores(group.means)}, {"deviation", scores(group.deviations)}});
  }
  if (comparison.evaluation) json["validation"] = to_json(*comparison.evaluation);
  return json;
}

std::string comparison_page(const std::vector<RunRecord>& runs, std::size_t sentences) {
  const auto comparison = compare_runs(runs);
  auto body = page_section(
      "", wide(runs_table(comparison)) + page_note("The scores are those of the best validation."));
  if (const auto seeds = seeds_table(comparison)) {
    body += page_section("Mean and standard deviation over seeds", wide(*seeds));
  }
  if (comparison.evaluation) {
    body += page_section(
        "Translations of the validation text",
        wide(score_table(*comparison.evaluation)) +
            page_note("95 % confidence intervals by bootstrap. p: the probability of a difference "
                      "from the first run as large as this one if the two were equally good "
                      "(paired bootstrap); * below 0.05."));
  }
  std::vector<RunLogs> logs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    logs.push_back({comparison.runs[r].name, runs[r].train_log, runs[r].validations});
  }
  std::string charts;
  for (const auto& chart : compared_curves(logs)) charts += line_chart_html(chart);
  if (!charts.empty()) {
    body += page_section("Learning curves", "<div class=\"charts\">\n" + charts + "</div>\n");
  }
  body += page_section("Sentences that differ most by chrF",
                       differing_sentences_html(comparison, sentences));
  std::string configurations;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    configurations += page_details(
        comparison.runs[r].name, "<pre>" + escape_xml(write_options(runs[r].options)) + "</pre>\n");
  }
  body += page_section("Configurations", configurations);
  return html_page(counted(runs.size(), "run"), "", body);
}

}  // namespace regard
