// Reads the records of a training run from its folder, and returns the parts of the page of
// `regard report`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "config/options.h"
#include "metrics/corpus_metric.h"
#include "report/run_logs.h"

namespace regard {

// A text with references and translations. The three vectors have the same size.
struct ScoredText {
  std::string name;  // shown on the page
  std::vector<std::string> sources;
  std::vector<std::string> references;
  std::vector<std::string> hypotheses;
};

// The records of a training run.
struct RunRecord {
  std::filesystem::path path;
  Options options;
  Json manifest;  // an empty object if there is none
  std::vector<Json> train_log;
  ValidationTable validations;
  std::optional<std::int64_t> best_step;

  // Steps of the validations; skips rows without a step.
  std::vector<std::int64_t> validated_steps() const;
  // Returns a value of the best validation, from this column of `validations`; NaN if it is
  // missing.
  double value_at_best(const std::string& column) const;
  // Returns a number of the last line of the training log; NaN if it is missing.
  double last_value(const std::string& key) const;
};

// True if the folder has the records of a training run.
bool is_run(const std::filesystem::path& path);

// Throws CheckpointError if the folder is not a run's, DamagedError if its config.yaml cannot be
// understood, and the errors of read_run_manifest() and read_validations().
RunRecord read_run(const std::filesystem::path& path);

// Returns the translations kept from a validation; empty if the file is missing.
std::vector<std::string> kept_translations(const RunRecord& run, std::int64_t step);

// Returns the validation text with its translations at the best, else the last validation. Returns
// nullopt and logs a warning if a file is missing or has changed.
std::optional<ScoredText> validation_text(const RunRecord& run);

// The functions below return HTML, which is empty if there is nothing to show.

// Languages, attention, number of parameters (if it is known), data and the date of the last step.
std::string identity_html(const RunRecord& run, std::optional<std::int64_t> parameters);
// Best scores, steps, time and the reason for stopping.
std::string summary_html(const RunRecord& run);
std::string learning_curves_html(const RunRecord& run);
// Translations of `count` validation sentences over time, one row per change.
std::string translation_history_html(const RunRecord& run, const ScoredText& text,
                                     std::size_t count);
// Layers and the resolved configuration.
std::string configuration_html(const RunRecord& run);

// The metric by source length, in up to five buckets of about equal size, each with its 95 %
// confidence interval by bootstrap.
std::string score_by_length_html(const ScoredText& text, const CorpusMetric& metric);

// The `count` sentences with the highest and the lowest chrF.
std::string best_and_worst_html(const ScoredText& text, std::size_t count);

}  // namespace regard
