#include "commands/run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "commands/model_text.h"
#include "config/writer.h"
#include "metrics/chrf.h"
#include "report/format.h"
#include "report/learning_curves.h"
#include "report/page.h"
#include "report/table.h"
#include "report/xml.h"
#include "training/examples.h"

namespace regard {
namespace {

std::string fact(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_xml(name), escape_xml(value));
}

// What is not known has no place.
std::string figure(const std::string& name, double value, const std::string& unit = "") {
  return std::isnan(value) ? "" : fact(name, format_short(value) + unit);
}

// From one step to the next that changed the translation.
struct Change {
  std::string steps;
  std::string translation;
};

std::vector<Change> changes_of(const std::vector<std::int64_t>& steps,
                               const std::vector<std::vector<std::string>>& translations,
                               std::size_t line) {
  std::vector<Change> changes;
  std::int64_t first = 0;
  for (std::size_t v = 0; v < steps.size(); ++v) {
    const auto& said = translations[v][line];
    if (changes.empty() || changes.back().translation != said) {
      first = steps[v];
      changes.push_back({format_thousands(first), said});
    } else {
      changes.back().steps = format_thousands(first) + " – " + format_thousands(steps[v]);
    }
  }
  return changes;
}

}  // namespace

std::string facts_html(const RunRecord& run) {
  const auto text = [](const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  };
  auto html = std::string("<dl class=\"facts\">\n");
  html += figure("BLEU, best validation", run.at_best("bleu"));
  html += figure("chrF", run.at_best("chrf"));
  html += figure("validation loss", run.at_best("loss"));
  if (run.best_step) html += fact("at step", format_thousands(*run.best_step));
  for (const auto* key : {"step", "epoch"}) {
    const auto count = run.last(key);
    if (!std::isnan(count))
      html += fact(fmt::format("{}s", key), format_thousands(std::llround(count)));
  }
  if (const auto seconds = run.last("seconds"); !std::isnan(seconds)) {
    html += fact("time", format_duration(seconds));
  }
  html += figure("target tokens a second", run.last("target_tokens_per_second"));
  html += "</dl>\n";
  const auto stopped = run.manifest.find("stopped");
  const auto reason = stopped == run.manifest.end() ? "" : text(*stopped, "reason");
  if (!reason.empty()) html += page_note("Stopped: " + reason + ".");
  return html;
}

std::string curves_html(const RunRecord& run) {
  std::string charts;
  for (const auto& chart : learning_curves(run.journal, run.validations))
    charts += line_chart_html(chart);
  return charts.empty() ? "" : "<div class=\"charts\">\n" + charts + "</div>\n";
}

std::string progress_html(const RunRecord& run, const ScoredText& text, std::size_t count) {
  std::vector<std::int64_t> steps;
  std::vector<std::vector<std::string>> translations;
  for (const auto step : run.validated_steps()) {
    auto kept = kept_translations(run, step);
    if (kept.size() != text.sources.size()) continue;
    steps.push_back(step);
    translations.push_back(std::move(kept));
  }
  std::string html;
  for (const auto line : spread(text.sources.size(), count)) {
    Table table({{"step", Align::right}, {"chrF", Align::right}, {"translation"}});
    for (const auto& change : changes_of(steps, translations, line)) {
      table.add({change.steps,
                 fmt::format("{:.1f}", sentence_chrf(change.translation, {text.references[line]})),
                 change.translation});
    }
    html += fmt::format("<h3>line {}</h3>\n", line + 1) +
            pairs_html({{"source", text.sources[line]}, {"reference", text.references[line]}}) +
            table.html();
  }
  return html.empty() ? "" : "<div class=\"history\">\n" + html + "</div>\n";
}

std::string configuration_html(const RunRecord& run) {
  return "<pre>" + escape_xml(layers_text(run.options.model)) + "</pre>\n" +
         page_details("config.yaml, with every default",
                      "<pre>" + escape_xml(write_options(run.options)) + "</pre>\n");
}

}  // namespace regard
