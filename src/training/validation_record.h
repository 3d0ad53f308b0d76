// The records of the validations of a run: one row each in validations.tsv, the translations in
// validation/, and a few example sentences in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/run_folder.h"
#include "report/run_logs.h"
#include "training/position.h"
#include "training/validation.h"

namespace regard {

class ValidationRecord {
 public:
  // Starts new records in the locked run folder `run`, which must outlive this object. If
  // `resume_step` is given, continues the existing records and removes the rows of later steps.
  // `validator` must outlive this object. `metric` is early_stopping_metric. Throws the errors of
  // ValidationsWriter.
  ValidationRecord(const RunFolder& run, const Validator& validator, Metric metric,
                   std::optional<std::int64_t> resume_step);

  // Logs and records a validation; the first one of a session also writes its source and reference.
  // `seconds` is the training time of all sessions so far. Throws
  // EnvironmentError if a file cannot be written.
  void add(const Validation& validation, const TrainingPosition& position, double learning_rate,
           double seconds, bool is_best);

 private:
  // Writes a line for each of `lines`.
  void write(const std::filesystem::path& file, const std::vector<std::string>& lines) const;

  const RunFolder& run_;
  const Validator& validator_;
  bool has_text_ = false;  // source and reference were written
  Metric metric_;
  ValidationsWriter rows_;
};

// Returns `count` indices below `lines`, evenly spread; all indices if `lines` is smaller.
std::vector<std::size_t> evenly_spread(std::size_t lines, std::size_t count);

// Logs source, reference and translation of `count` validation sentences, the same ones after each
// validation.
void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count);

}  // namespace regard
