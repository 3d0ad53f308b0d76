// The records that a run keeps of its validations: a row each in validations.tsv, the translations
// in validation/, and a few example sentences in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/journal.h"
#include "training/position.h"
#include "training/validation.h"

namespace regard {

class ValidationRecord {
 public:
  // Starts the records of the run in this folder or, given `last`, continues them after the
  // validation at that step and drops later rows. Throws as ValidationsWriter does.
  ValidationRecord(const std::filesystem::path& run, std::optional<std::int64_t> last);

  // Logs and records a validation; `seconds` is the training time so far. Throws EnvironmentError
  // if a file cannot be written.
  void add(const Validation& validation, const Position& position, double learning_rate,
           double seconds, bool is_best);

 private:
  std::filesystem::path run_;
  ValidationsWriter rows_;
};

// Returns `count` of the indices below `lines`, or all of them, evenly spread.
std::vector<std::size_t> evenly_spread(std::size_t lines, std::size_t count);

// Logs `count` sentences of the validation pair with their translations: the same sentences each
// time.
void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count);

}  // namespace regard
