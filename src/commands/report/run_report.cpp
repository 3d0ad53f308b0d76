#include "commands/report/run_report.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/run_folder.h"
#include "commands/evaluate/evaluation_report.h"
#include "commands/loaded_model.h"
#include "commands/model_report.h"
#include "config/reader.h"
#include "config/writer.h"
#include "data/line_reader.h"
#include "metrics/chrf.h"
#include "metrics/significance.h"
#include "model/attention/table.h"
#include "report/format.h"
#include "report/learning_curves.h"
#include "report/line_chart.h"
#include "report/page.h"
#include "report/table.h"
#include "report/xml.h"
#include "text/unicode.h"
#include "training/run_manifest.h"
#include "training/validation_record.h"
#include "translation/ensemble_folders.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

// Returns the run that a model folder is in: RUN of RUN/best and RUN/checkpoints/step-00000100.
std::optional<fs::path> run_above(const fs::path& model) {
  if (!is_file(model / "model.safetensors")) return std::nullopt;
  auto above = model;
  for (int level = 0; level < 3; ++level) {  // 3: the path may end in a slash
    above = above.has_parent_path() ? above.parent_path() : ".";
    if (is_run(above)) return above;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> RunRecord::validated_steps() const {
  std::vector<std::int64_t> steps;
  for (const auto step : validations.steps()) {
    if (step) steps.push_back(*step);
  }
  return steps;
}

double RunRecord::value_at_best(const std::string& column) const {
  const auto steps = validations.numbers("step");
  const auto values = validations.numbers(column);
  for (std::size_t i = 0; best_step && i < values.size(); ++i)
    if (steps[i] == static_cast<double>(*best_step)) return values[i];
  return missing_value;
}

double RunRecord::last_value(const std::string& key) const {
  if (train_log.empty()) return missing_value;
  const auto value = train_log.back().find(key);
  return value != train_log.back().end() && value->is_number() ? value->get<double>()
                                                               : missing_value;
}

bool is_run(const fs::path& path) {
  return is_file(path / "config.yaml") && is_file(path / "train.jsonl");
}

RunRecord read_run(const fs::path& path) {
  if (!is_run(path)) {
    if (const auto run = run_above(path)) {
      throw CheckpointError(
          "{}: found a model of a run, expected the run; did you mean `regard report {}`?",
          path.string(), shell_word(run->string()));
    }
    std::error_code ignored;
    throw CheckpointError(
        "{}: {} (looked for: config.yaml and train.jsonl, which `regard train` writes)",
        path.string(), fs::exists(path, ignored) ? "not the folder of a run" : "no such folder");
  }
  RunRecord run;
  run.path = path;
  try {
    run.options = read_options(path / "config.yaml");
    reset_unread(run.options);
    resolve_automatic(run.options.model);
  } catch (const ConfigError& error) {
    throw DamagedError("{}", error.what());
  }
  run.manifest = read_run_manifest(path / "manifest.json");
  run.train_log = read_json_lines((path / "train.jsonl").string());
  if (const auto file = path / "validations.tsv"; is_file(file)) {
    run.validations = read_validations(file.string());
  }
  // Prefers the link `best` to the marks in validations.tsv, which may come from an earlier
  // early_stopping_metric.
  run.best_step = RunFolder(path).best_step();
  const auto steps = run.validations.steps();
  const auto row = run.validations.best_row();
  if (!run.best_step && row && !steps.empty()) run.best_step = steps[*row];
  return run;
}

std::vector<std::string> kept_translations(const RunRecord& run, std::int64_t step) {
  const auto path = translations_file(run.path, step);
  return is_file(path) ? read_lines(path.string()) : std::vector<std::string>();
}

std::optional<ScoredText> validation_text(const RunRecord& run) {
  const auto source = validation_source_file(run.path).string();
  const auto reference = validation_reference_file(run.path).string();
  const auto steps = run.validated_steps();
  const auto step = run.best_step.value_or(steps.empty() ? 0 : steps.back());
  if (!is_file(translations_file(run.path, step))) return std::nullopt;
  for (const auto& path : {source, reference}) {
    if (is_file(path)) continue;
    log::warning("{}: no such file, so the validation sentences are left out", path);
    return std::nullopt;
  }
  ScoredText text{"validation, step " + format_thousands(step), read_lines(source),
                  read_lines(reference), kept_translations(run, step)};
  if (text.hypotheses.size() == text.sources.size() &&
      text.hypotheses.size() == text.references.size()) {
    return text;
  }
  log::warning(
      "{}: found {} kept at step {}, but {} and {} have {} and {}; the validation sentences are "
      "left out",
      run.path.string(), counted(text.hypotheses.size(), "translation"), step, source, reference,
      text.sources.size(), counted(text.references.size(), "line"));
  return std::nullopt;
}

namespace {

// A definition list of names and values.
std::string pairs_html(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string html = "<dl class=\"pair\">\n";
  for (const auto& [name, value] : pairs)
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(name), escape_xml(value));
  return html + "</dl>\n";
}

std::string fact_html(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_xml(name), escape_xml(value));
}

// Returns "" if the value is not known (NaN).
std::string number_html(const std::string& name, double value, const std::string& unit = "") {
  return std::isnan(value) ? "" : fact_html(name, format_short(value) + unit);
}

// A translation with the range of steps at which it was made.
struct Change {
  std::string steps;
  std::string translation;
};

std::vector<Change> translation_changes(const std::vector<std::int64_t>& steps,
                                        const std::vector<std::vector<std::string>>& translations,
                                        std::size_t line) {
  std::vector<Change> changes;
  std::int64_t first = 0;
  for (std::size_t v = 0; v < steps.size(); ++v) {
    const auto& translation = translations[v][line];
    if (changes.empty() || changes.back().translation != translation) {
      first = steps[v];
      changes.push_back({format_thousands(first), translation});
    } else {
      changes.back().steps = format_thousands(first) + " – " + format_thousands(steps[v]);
    }
  }
  return changes;
}

constexpr std::size_t max_buckets = 5;

// Returns up to max_buckets buckets of about equal size, in order of source length.
std::vector<LengthBucket> make_buckets(std::vector<std::size_t> lengths) {
  std::ranges::sort(lengths);
  std::vector<LengthBucket> buckets(1);
  for (std::size_t part = 1; part < max_buckets; ++part) {
    const auto edge = lengths[part * lengths.size() / max_buckets];
    // Skips an edge that would leave this or the next bucket empty.
    if (edge == lengths.back() || edge < std::max<std::size_t>(1, buckets.back().shortest))
      continue;
    buckets.back().longest = edge;
    buckets.emplace_back().shortest = edge + 1;
  }
  buckets.front().shortest = lengths.front();
  return buckets;
}

// Selects the counts of the sentences in a bucket.
SentenceCounts counts_in(const LengthBucket& bucket, const std::vector<std::size_t>& lengths,
                         const SentenceCounts& all) {
  SentenceCounts counts{all.width, {}};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < bucket.shortest || lengths[i] > bucket.longest.value_or(lengths[i])) continue;
    const auto one = all.sentence(i);
    counts.values.insert(counts.values.end(), one.begin(), one.end());
  }
  return counts;
}

std::string scored_sentence_html(const ScoredText& text, std::size_t i, double chrf) {
  return fmt::format("<h3>line {}: chrF {:.1f}</h3>\n", i + 1, chrf) +
         pairs_html({{"source", text.sources[i]},
                     {"reference", text.references[i]},
                     {"translation", text.hypotheses[i]}});
}

}  // namespace

std::string identity_html(const RunRecord& run, std::optional<std::int64_t> parameters) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto& data = run.options.data;
  std::vector<std::string> files;
  for (const auto& corpus : data.train) {
    files.push_back(corpus.src.empty() ? corpus.trg : corpus.src + ", " + corpus.trg);
  }
  if (!data.prepared.empty()) files = {data.prepared};
  const auto [source, target] = languages(run.options);
  if (!source.empty() && !target.empty()) facts.emplace_back("languages", source + " → " + target);
  if (run.options.model.kind == ModelKind::translation) {
    facts.emplace_back("attention", attention_kind(run.options.model));
  }
  if (parameters) facts.emplace_back("parameters", format_thousands(*parameters));
  facts.emplace_back("trained on", fmt::format("{}", fmt::join(files, "; ")));
  struct stat status {};
  if (::stat((run.path / "train.jsonl").c_str(), &status) == 0) {
    facts.emplace_back("last step", fmt::format("{:%Y-%m-%d}", fmt::localtime(status.st_mtime)));
  }
  return pairs_html(facts);
}

std::string summary_html(const RunRecord& run) {
  const auto text = [](const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  };
  auto html = std::string("<dl class=\"facts\">\n");
  html += number_html("BLEU, best validation", run.value_at_best("bleu"));
  html += number_html("chrF", run.value_at_best("chrf"));
  html += number_html("WER", run.value_at_best("wer"));
  html += number_html("CER", run.value_at_best("cer"));
  html += number_html("exact", run.value_at_best("exact"));
  html += number_html("validation loss", run.value_at_best("loss"));
  if (run.best_step) html += fact_html("step of this report", format_thousands(*run.best_step));
  for (const auto* key : {"step", "epoch"}) {
    const auto count = run.last_value(key);
    if (!std::isnan(count))
      html += fact_html(fmt::format("{}s trained", key), format_thousands(std::llround(count)));
  }
  if (const auto seconds = run.last_value("seconds"); !std::isnan(seconds)) {
    html += fact_html("time", format_duration(seconds));
  }
  html += number_html("target tokens per second", run.last_value("target_tokens_per_second"));
  html += "</dl>\n";
  const auto stopped = run.manifest.find("stopped");
  const auto reason = stopped == run.manifest.end() ? "" : text(*stopped, "reason");
  if (!reason.empty()) html += page_note("Stopped: " + reason + ".");
  return html;
}

std::string learning_curves_html(const RunRecord& run) {
  std::string charts;
  for (const auto& chart : learning_curves({"", run.train_log, run.validations}))
    charts += line_chart_html(chart);
  if (charts.empty()) return "";
  return "<div class=\"charts\">\n" + charts + "</div>\n" +
         page_note(
             "The training loss is a mean over the steps since the point before, with dropout. The "
             "validation loss is that of the model at its step, without dropout, and can be "
             "lower.");
}

std::string translation_history_html(const RunRecord& run, const ScoredText& text,
                                     std::size_t count) {
  std::vector<std::int64_t> steps;
  std::vector<std::vector<std::string>> translations;
  for (const auto step : run.validated_steps()) {
    auto kept = kept_translations(run, step);
    if (kept.size() != text.sources.size()) continue;
    steps.push_back(step);
    translations.push_back(std::move(kept));
  }
  std::string html;
  for (const auto line : evenly_spread(text.sources.size(), count)) {
    Table table({{"step", Align::right}, {"chrF", Align::right}, {"translation"}});
    for (const auto& change : translation_changes(steps, translations, line)) {
      const auto chrf = corpus_score(Chrf(), {change.translation}, {{text.references[line]}});
      table.add({change.steps, fmt::format("{:.1f}", chrf), change.translation});
    }
    html += fmt::format("<h3>line {}</h3>\n", line + 1) +
            pairs_html({{"source", text.sources[line]}, {"reference", text.references[line]}}) +
            table.html();
  }
  return html.empty() ? "" : "<div class=\"history\">\n" + html + "</div>\n";
}

std::string configuration_html(const RunRecord& run) {
  return "<pre>" + escape_xml(layers_text(run.options.model)) + "</pre>\n" +
         page_details("config.yaml, with the defaults that the model reads",
                      "<pre>" + escape_xml(write_options(run.options)) + "</pre>\n");
}

std::string score_by_length_html(const ScoredText& text, const CorpusMetric& metric) {
  if (text.sources.empty()) return "";
  std::vector<std::size_t> lengths;
  for (const auto& source : text.sources) lengths.push_back(word_count(source));
  const bool are_words = std::ranges::max(lengths) <= 1;  // a list of single words
  for (std::size_t i = 0; are_words && i < lengths.size(); ++i) {
    lengths[i] = decode_utf8(text.sources[i]).size();
  }
  const std::string unit = are_words ? "source characters" : "source words";
  const auto name = metric.name();
  const auto highest = name.ends_with("ER") ? std::numeric_limits<double>::infinity() : 100;  // WER
  const auto counts = metric.count(text.hypotheses, {text.references});
  LineChart chart;
  chart.width = 420;  // about the width of a phone
  chart.height = 200;
  chart.x_label = unit;
  chart.y_min = 0;
  Series series{name + ", 95 % confidence", {}};
  Table table({{unit},
               {"sentences", Align::right},
               {name, Align::right},
               {"95 % confidence", Align::right}});
  for (const auto& bucket : make_buckets(lengths)) {
    const auto part = counts_in(bucket, lengths, counts);
    const auto score = metric.score(part.sum());
    const auto interval = confidence_interval(bootstrap_scores(metric, part, {}));
    const auto x = static_cast<double>(series.points.size());
    const auto low = std::max(0.0, interval.mean - interval.half_width);
    const auto high = std::min(highest, interval.mean + interval.half_width);
    series.points.emplace_back(x, score);
    series.band.emplace_back(low, high);
    chart.x_ticks.emplace_back(x, bucket_label(bucket));
    table.add({bucket_label(bucket), fmt::format("{}", part.sentences()),
               fmt::format("{:.2f}", score), fmt::format("{:.2f} – {:.2f}", low, high)});
  }
  chart.series.push_back(std::move(series));
  return page_note(text.name) + "<div class=\"sides\">\n" + line_chart_html(chart) + table.html() +
         "</div>\n";
}

std::string best_and_worst_html(const ScoredText& text, std::size_t count) {
  std::vector<double> chrf;
  for (std::size_t i = 0; i < text.sources.size(); ++i)
    chrf.push_back(corpus_score(Chrf(), {text.hypotheses[i]}, {{text.references[i]}}));
  std::vector<std::size_t> order(chrf.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return chrf[a] > chrf[b]; });
  const auto shown = std::min(count, order.size() / 2);
  std::string best;
  std::string worst;
  for (std::size_t k = 0; k < shown; ++k) {
    best += scored_sentence_html(text, order[k], chrf[order[k]]);
    const auto last = order[order.size() - 1 - k];
    worst += scored_sentence_html(text, last, chrf[last]);
  }
  if (shown == 0) return "";
  return page_note(text.name + "; by chrF of the sentence") + page_details("Worst", worst) +
         page_details("Best", best);
}

}  // namespace regard
