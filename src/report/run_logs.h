// The machine-readable records of a run: train.jsonl (one JSON object per line), validations.tsv
// (one row per validation), the validation text and its translations at each validation. Resuming
// at a step drops the records of later steps, so an interrupted run has the same lines as an
// uninterrupted one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace regard {

// A text file that is written line by line. append() flushes each line to the operating system, so
// that a killed process leaves at most one incomplete line, the last.
class LineFile {
 public:
  enum class Mode { create, append };

  // `create` empties an existing file. Throws EnvironmentError if the file cannot be written.
  LineFile(std::string path, Mode mode);

  // Writes `line` and a newline, and flushes them. Throws EnvironmentError with the system's reason
  // on failure, e.g. a full disk.
  void append(std::string_view line);
  // Writes and flushes bytes like append(), without a newline.
  void write(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Returns the lines of a file, or nothing if there is no file. Omits a last line without a newline,
// left by a killed process. Throws EnvironmentError if the file cannot be read.
std::vector<std::string> read_complete_lines(const std::string& path);

// Writes train.jsonl, one JSON object per line.
class JsonLinesWriter {
 public:
  // Without `resume_step`, starts an empty file. With it, drops damaged lines, the lines with a
  // greater "step", and the lines without a step that follow one of these. Throws EnvironmentError
  // if the file cannot be read or written.
  explicit JsonLinesWriter(const std::string& path, std::optional<std::int64_t> resume_step = {});

  // Writes one line and flushes it. Numbers that are not finite become null.
  void append(const Json& object);

 private:
  LineFile file_;
};

// Returns the objects of a train.jsonl, none if there is no file. Skips damaged lines. Throws
// EnvironmentError if the file cannot be read.
std::vector<Json> read_json_lines(const std::string& path);

// Writes validations.tsv: a header of column names, the first of which is "step".
class ValidationsWriter {
 public:
  // Without `resume_step`, starts a new file. With it, drops the rows of later steps, keeps columns
  // of the file that are not in `columns`, and adds the missing ones. Throws EnvironmentError if
  // the file cannot be read or written, InputError (file:line) if a row has no step.
  ValidationsWriter(const std::string& path, std::vector<std::string> columns,
                    std::optional<std::int64_t> resume_step = {});

  // Writes one row. `row` maps a column to a string, number, bool or null. Missing columns stay
  // empty. Tabs and newlines in strings become spaces. Throws std::invalid_argument for an unknown
  // column.
  void append(const Json& row);

 private:
  std::vector<std::string> columns_;
  LineFile file_;
};

// The contents of validations.tsv.
struct ValidationTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each as wide as `columns`

  // Returns a column as numbers: NaN for a cell that is not a number; empty if the column does not
  // exist.
  std::vector<double> numbers(const std::string& column) const;
  // Returns the column "step"; nullopt for a cell that is not a step, because people edit these
  // files. Empty if there is no such column.
  std::vector<std::optional<std::int64_t>> steps() const;
  // Returns the index of the last row that is marked as best; nullopt if none is.
  std::optional<std::size_t> best_row() const;
  // Returns the training time up to the last validation, in seconds; NaN if it is unknown.
  double training_seconds() const;
};

// Throws EnvironmentError if the file cannot be read, InputError (file:line) if a row does not
// match the header.
ValidationTable read_validations(const std::string& path);

// Return the paths of the files of a run with the validation text and its translations at a step.
std::filesystem::path validation_source_file(const std::filesystem::path& run);
std::filesystem::path validation_reference_file(const std::filesystem::path& run);
std::filesystem::path translations_file(const std::filesystem::path& run, std::int64_t step);

}  // namespace regard
