// The records of a run that programs read: train.jsonl (one JSON object a line), validations.tsv
// (one row a validation) and each validation's translations. A run that was killed and resumed at a
// step leaves the same lines as one that was never stopped: on resuming, what later steps had
// written is dropped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/line_file.h"

namespace regard {

// train.jsonl.
class Journal {
 public:
  // Without `resume_step` starts an empty file. With it keeps the lines whose "step" is not
  // greater, and those without a step that stand before the first line dropped; a line torn by a
  // crash is dropped too. Throws EnvironmentError.
  explicit Journal(const std::string& path, std::optional<std::int64_t> resume_step = {});

  // One object, one line, flushed. A number that is not finite becomes null, as JSON has none.
  void append(const Json& object);

 private:
  LineFile file_;
};

// The objects of a train.jsonl, none where there is no file; a damaged line is passed over. Throws
// EnvironmentError.
std::vector<Json> read_journal(const std::string& path);

// validations.tsv: a header of column names, the first of which is "step".
class ValidationsWriter {
 public:
  // Resumes by the same rule as Journal. A file that already has other columns keeps them, and
  // those it lacks are added to its header. Throws EnvironmentError, and InputError (file:line)
  // where a row says no step.
  ValidationsWriter(const std::string& path, std::vector<std::string> columns,
                    std::optional<std::int64_t> resume_step = {});

  // An object of column → string, number, bool or null; columns it lacks stay empty. Tabs and
  // newlines in strings become spaces. Throws std::invalid_argument for an unknown column.
  void append(const Json& row);

 private:
  std::vector<std::string> columns_;
  LineFile file_;
};

struct Validations {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each as wide as `columns`

  // One column as numbers, NaN where a cell is empty or none; empty where there is no such column.
  std::vector<double> numbers(const std::string& column) const;
  // Column "step"; none where a cell is no step: files are what people make of them.
  std::vector<std::optional<std::int64_t>> steps() const;
};

// Throws EnvironmentError where the file cannot be read, InputError (file:line) for a row whose
// cells do not match the header.
Validations read_validations(const std::string& path);

// Where the run in this folder keeps the translations of the validation at a step.
std::filesystem::path translations_file(const std::filesystem::path& run, std::int64_t step);

}  // namespace regard
