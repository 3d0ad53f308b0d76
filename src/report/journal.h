// The machine-readable records of a run: train.jsonl (one JSON object per line), validations.tsv
// (one row per validation) and the translations of each validation. Resuming at a step drops what
// later steps had written, so an interrupted run has the same lines as an uninterrupted one.
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
  // Without `resume_step`, starts an empty file. With it, keeps the lines whose "step" is not
  // greater, and lines without a step before the first dropped line. Drops a line torn by a crash.
  // Throws EnvironmentError.
  explicit Journal(const std::string& path, std::optional<std::int64_t> resume_step = {});

  // Writes one line and flushes it. Numbers that are not finite become null.
  void append(const Json& object);

 private:
  LineFile file_;
};

// Returns the objects of a train.jsonl, none if there is no file. Skips damaged lines. Throws
// EnvironmentError.
std::vector<Json> read_journal(const std::string& path);

// Writes validations.tsv: a header of column names, the first of which is "step".
class ValidationsWriter {
 public:
  // Resumes like Journal. Keeps further columns of an existing file, and adds missing ones to its
  // header. Throws EnvironmentError, and InputError (file:line) if a row has no step.
  ValidationsWriter(const std::string& path, std::vector<std::string> columns,
                    std::optional<std::int64_t> resume_step = {});

  // Writes an object of column → string, number, bool or null. Missing columns stay empty. Tabs and
  // newlines in strings become spaces. Throws std::invalid_argument for an unknown column.
  void append(const Json& row);

 private:
  std::vector<std::string> columns_;
  LineFile file_;
};

struct Validations {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each as wide as `columns`

  // Returns a column as numbers: NaN for a cell that is not a number; empty if the column does not
  // exist.
  std::vector<double> numbers(const std::string& column) const;
  // Returns the column "step"; nullopt for a cell that is not a step, because people edit these
  // files.
  std::vector<std::optional<std::int64_t>> steps() const;
};

// Throws EnvironmentError if the file cannot be read, InputError (file:line) if a row does not
// match the header.
Validations read_validations(const std::string& path);

// Returns the path of a run's validation translations at a step.
std::filesystem::path translations_file(const std::filesystem::path& run, std::int64_t step);

}  // namespace regard
