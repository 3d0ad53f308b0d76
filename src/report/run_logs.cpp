#include "report/run_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"

namespace regard {
namespace {

[[noreturn]] void fail_writing(const std::string& path) {
  throw EnvironmentError("{}: cannot write ({}); check the free space and the permissions", path,
                         std::strerror(errno));
}

}  // namespace

LineFile::LineFile(std::string path, Mode mode)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), mode == Mode::create ? "w" : "a")) {
  if (!file_) fail_writing(path_);
}

void LineFile::append(std::string_view line) {
  write(std::string(line) + "\n");
}

void LineFile::write(std::string_view bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
  if (!written || std::fflush(file_.get()) != 0) fail_writing(path_);
}

std::vector<std::string> read_complete_lines(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  const std::string text = read_file<EnvironmentError>(path, "record of the run");
  const auto lines = split(text, '\n');
  return {lines.begin(), lines.end() - 1};
}

namespace {

// Drops the lines of steps after `resume_step` from the file.
LineFile resume_json_lines(const std::string& path, std::int64_t resume_step) {
  std::string kept;
  bool dropped = false;
  int damaged = 0;
  for (const std::string& line : read_complete_lines(path)) {
    const Json object = parse_json(line);
    if (!object.is_object()) {
      ++damaged;
      continue;
    }
    const auto step = object.find("step");
    const bool has_step = step != object.end() && step->is_number();
    const bool keep = has_step ? step->get<double>() <= static_cast<double>(resume_step) : !dropped;
    if (keep)
      kept += line + "\n";
    else
      dropped = true;
  }
  if (damaged > 0)
    log::warning("{}: dropped {} while resuming", path, counted(damaged, "damaged line"));
  write_file(path, kept);
  return {path, LineFile::Mode::append};
}

double cell_number(const std::string& cell) {
  return parse_number<double>(cell).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string to_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string join_tabs(const std::vector<std::string>& cells) {
  return fmt::format("{}", fmt::join(cells, "\t"));
}

// Writes the header and, if resumed, the rows that are kept. Adds the columns of the file to
// `columns`.
LineFile open_validations(const std::string& path, std::vector<std::string>& columns,
                          std::optional<std::int64_t> resume_step) {
  std::string rows;
  if (resume_step && !read_complete_lines(path).empty()) {
    ValidationTable old = read_validations(path);
    const auto steps = old.steps();
    if (steps.size() < old.rows.size()) {
      throw InputError(
          "{}:1: no column `step`, which resuming needs to select rows; restore the name of the "
          "column, or move the file away",
          path);
    }
    for (const std::string& column : columns)
      if (std::find(old.columns.begin(), old.columns.end(), column) == old.columns.end())
        old.columns.push_back(column);
    columns = old.columns;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!steps[i]) {
        throw InputError(
            "{}:{}: no number in column `step`, which resuming needs to select rows; restore the "
            "step of the row, or remove the row",
            path, i + 2);
      }
      if (*steps[i] > *resume_step) continue;
      old.rows[i].resize(columns.size());
      rows += join_tabs(old.rows[i]) + "\n";
    }
  }
  write_file(path, join_tabs(columns) + "\n" + rows);
  return {path, LineFile::Mode::append};
}

}  // namespace

JsonLinesWriter::JsonLinesWriter(const std::string& path, std::optional<std::int64_t> resume_step)
    : file_(resume_step ? resume_json_lines(path, *resume_step)
                        : LineFile(path, LineFile::Mode::create)) {}

void JsonLinesWriter::append(const Json& object) {
  file_.append(to_text(object));
}

std::vector<Json> read_json_lines(const std::string& path) {
  std::vector<Json> objects;
  for (const std::string& line : read_complete_lines(path)) {
    Json object = parse_json(line);
    if (object.is_object()) objects.push_back(std::move(object));
  }
  return objects;
}

ValidationsWriter::ValidationsWriter(const std::string& path, std::vector<std::string> columns,
                                     std::optional<std::int64_t> resume_step)
    : columns_(std::move(columns)), file_(open_validations(path, columns_, resume_step)) {}

void ValidationsWriter::append(const Json& row) {
  std::vector<std::string> cells(columns_.size());
  for (const auto& [name, value] : row.items()) {
    const auto column = std::find(columns_.begin(), columns_.end(), name);
    if (column == columns_.end())
      throw std::invalid_argument(fmt::format("{}: no column '{}'", file_.path(), name));
    cells[static_cast<std::size_t>(column - columns_.begin())] = to_cell(value);
  }
  file_.append(join_tabs(cells));
}

std::vector<double> ValidationTable::numbers(const std::string& column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return {};
  const auto index = static_cast<std::size_t>(found - columns.begin());
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(cell_number(row[index]));
  return values;
}

std::vector<std::optional<std::int64_t>> ValidationTable::steps() const {
  std::vector<std::optional<std::int64_t>> steps;
  for (const auto number : numbers("step")) {
    const bool is_step = number >= 0 && number < 1e15;
    steps.push_back(is_step ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt);
  }
  return steps;
}

std::optional<std::size_t> ValidationTable::best_row() const {
  const auto column = std::find(columns.begin(), columns.end(), "best");
  if (column == columns.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(column - columns.begin());
  for (std::size_t row = rows.size(); row-- > 0;) {
    if (rows[row][index] == "*") return row;
  }
  return std::nullopt;
}

double ValidationTable::training_seconds() const {
  const auto seconds = numbers("seconds");
  return seconds.empty() ? std::numeric_limits<double>::quiet_NaN() : seconds.back();
}

ValidationTable read_validations(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw EnvironmentError("{}: no such file; training writes it at the first validation", path);
  ValidationTable result;
  int number = 0;
  for (const std::string& line : read_complete_lines(path)) {
    ++number;
    const auto parts = split(line, '\t');
    std::vector<std::string> cells(parts.begin(), parts.end());
    if (number == 1) {
      result.columns = std::move(cells);
      continue;
    }
    if (cells.size() != result.columns.size())
      throw InputError("{}:{}: found {}, but the header has {}", path, number,
                       counted(cells.size(), "cell"), counted(result.columns.size(), "column"));
    result.rows.push_back(std::move(cells));
  }
  return result;
}

std::filesystem::path validation_source_file(const std::filesystem::path& run) {
  return run / "validation" / "source.txt";
}

std::filesystem::path validation_reference_file(const std::filesystem::path& run) {
  return run / "validation" / "reference.txt";
}

std::filesystem::path translations_file(const std::filesystem::path& run, std::int64_t step) {
  return run / "validation" / fmt::format("step-{:08}.txt", step);
}

}  // namespace regard
