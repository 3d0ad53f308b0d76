// What a run keeps of its validations: a row each in validations.tsv, and the translations.
#pragma once

#include <filesystem>
#include <optional>

#include "report/journal.h"
#include "training/training_log.h"
#include "training/validation.h"

namespace regard {

class ValidationRecord {
 public:
  // Of the run in this folder, begun anew or going on behind the validation at step `last`: later
  // rows are dropped. Errors as of ValidationsWriter.
  ValidationRecord(const std::filesystem::path& run, std::optional<std::int64_t> last);

  // `seconds` is the training time so far. EnvironmentError where something cannot be written.
  void add(const Validation& validation, const Position& position, double learning_rate,
           double seconds, bool is_best);

 private:
  std::filesystem::path run_;
  ValidationsWriter rows_;
};

}  // namespace regard
