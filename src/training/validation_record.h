// The records of the validations of a run: one row each in validations.tsv, the translations in
// validation/, and a few example sentences in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/run_logs.h"
#include "training/position.h"
#include "training/validation.h"

namespace regard {

class ValidationRecord {
 public:
  // Starts new records in the run folder. If `last` is given, continues the records after the
  // validation at this step and removes later rows. Throws the errors of ValidationsWriter.
  ValidationRecord(const std::filesystem::path& run, std::optional<std::int64_t> last);

  // Logs and records a validation; `seconds` is the training time so far. Throws EnvironmentError
  // if a file cannot be written.
  void add(const Validation& validation, const TrainingPosition& position, double learning_rate,
           double seconds, bool is_best);

 private:
  std::filesystem::path run_;
  ValidationsWriter rows_;
};

// Returns `count` evenly spread indices below `lines`; all indices if there are fewer.
std::vector<std::size_t> evenly_spread(std::size_t lines, std::size_t count);

// Logs `count` sentences of the validation pair with their translations: the same sentences each
// time.
void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count);

}  // namespace regard
