// What a run folder tells of a training, read from its files alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "commands/text_report.h"
#include "config/options.h"
#include "report/journal.h"

namespace regard {

struct RunRecord {
  std::filesystem::path path;
  Options options;
  Json manifest;  // an empty object where there is none
  std::vector<Json> journal;
  Validations validations;
  std::optional<std::int64_t> best_step;

  // Of each validation that has one.
  std::vector<std::int64_t> validated_steps() const;
  // NaN where the best validation, or the journal's last line, does not tell.
  double at_best(const std::string& column) const;
  double last(const std::string& key) const;
};

// Throws CheckpointError if the folder is not a run's, DamagedError if its config.yaml cannot be
// understood, and the errors of read_run_manifest() and read_validations().
RunRecord read_run(const std::filesystem::path& path);

// What the run kept of a validation; none where the file is gone.
std::vector<std::string> kept_translations(const RunRecord& run, std::int64_t step);

// The validation pair with its translations at the best validation, or the last; nothing where one
// of them is gone or has changed, which a warning says.
std::optional<ScoredText> validation_text(const RunRecord& run);

}  // namespace regard
