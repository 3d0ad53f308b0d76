#include "commands/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/run_folder.h"
#include "config/reader.h"
#include "data/line_reader.h"
#include "report/format.h"
#include "training/run_manifest.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Returns the step of the last validation marked as best.
std::optional<std::int64_t> last_best_step(const Validations& validations) {
  const auto column = std::ranges::find(validations.columns, "best");
  const auto steps = validations.steps();
  std::optional<std::int64_t> best;
  for (std::size_t i = 0; i < steps.size() && column != validations.columns.end(); ++i) {
    const auto index = static_cast<std::size_t>(column - validations.columns.begin());
    if (validations.rows[i][index] == "*") best = steps[i];
  }
  return best;
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
  return none;
}

double RunRecord::last_value(const std::string& key) const {
  if (journal.empty()) return none;
  const auto value = journal.back().find(key);
  return value != journal.back().end() && value->is_number() ? value->get<double>() : none;
}

RunRecord read_run(const fs::path& path) {
  if (!is_file(path / "config.yaml") || !is_file(path / "train.jsonl")) {
    std::error_code ignored;
    throw CheckpointError(
        "{}: {} (looked for: config.yaml and train.jsonl, which `regard train` writes)",
        path.string(), fs::exists(path, ignored) ? "not the folder of a run" : "no such folder");
  }
  RunRecord run;
  run.path = path;
  try {
    run.options = read_options(path / "config.yaml");
  } catch (const ConfigError& error) {
    throw DamagedError("{}", error.what());
  }
  run.manifest = read_run_manifest(path / "manifest.json");
  run.journal = read_journal((path / "train.jsonl").string());
  if (const auto file = path / "validations.tsv"; is_file(file)) {
    run.validations = read_validations(file.string());
  }
  // The link is preferred: the marks may come from an earlier early_stopping_metric.
  run.best_step = RunFolder(path).best_step();
  if (!run.best_step) run.best_step = last_best_step(run.validations);
  return run;
}

std::vector<std::string> kept_translations(const RunRecord& run, std::int64_t step) {
  const auto path = translations_file(run.path, step);
  return is_file(path) ? read_lines(path.string()) : std::vector<std::string>();
}

std::optional<ScoredText> validation_text(const RunRecord& run) {
  const auto& dev = run.options.data.dev;
  const auto steps = run.validated_steps();
  if (dev.src.empty() || steps.empty()) return std::nullopt;
  for (const auto& path : {dev.src, dev.trg}) {
    if (is_file(path)) continue;
    log::warning("{}: no such file from here, so the page omits the validation sentences", path);
    return std::nullopt;
  }
  const auto step = run.best_step.value_or(steps.back());
  ScoredText text{"validation, step " + format_thousands(step), read_lines(dev.src),
                  read_lines(dev.trg), kept_translations(run, step)};
  if (text.hypotheses.size() == text.sources.size() &&
      text.hypotheses.size() == text.references.size()) {
    return text;
  }
  log::warning(
      "{}: found {} kept at step {}, but {} and {} have {} and {}; the page omits "
      "the validation sentences",
      run.path.string(), counted(text.hypotheses.size(), "translation"), step, dev.src, dev.trg,
      text.sources.size(), counted(text.references.size(), "line"));
  return std::nullopt;
}

}  // namespace regard
