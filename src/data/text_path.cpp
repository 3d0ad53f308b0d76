#include "data/text_path.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "data/byte_stream.h"

namespace regard {
namespace {

constexpr std::array<std::pair<std::string_view, RecordFormat>, 7> record_endings = {{
    {".tsv", RecordFormat::tab_separated},
    {".tab", RecordFormat::tab_separated},
    {".csv", RecordFormat::csv},
    {".jsonl", RecordFormat::json_lines},
    {".ndjson", RecordFormat::json_lines},
    {".json", RecordFormat::json_lines},
    {".tmx", RecordFormat::tmx},
}};

// In the order of RecordFormat.
constexpr std::array<std::string_view, 4> format_names = {"tsv", "csv", "jsonl", "tmx"};

constexpr std::array<std::string_view, 14> endings_without_columns = {
    ".parquet", ".arrow", ".xlsx", ".xls", ".ods", ".docx", ".zip",
    ".tar",     ".7z",    ".xml",  ".xlf", ".po",  ".html", ".safetensors"};

// Returns the ending of the name, in lower case: ".tsv" for a/B.TSV.gz.
std::string name_ending(const std::string& file) {
  return lower_ascii(std::filesystem::path(without_compression_ending(file)).extension().string());
}

const auto* find_format(const std::string& ending) {
  const auto* found =
      std::ranges::find(record_endings, ending, &std::pair<std::string_view, RecordFormat>::first);
  return found == record_endings.end() ? nullptr : found;
}

}  // namespace

TextPath split_text_path(const std::string& path) {
  std::error_code ignored;
  auto at = path.rfind('#');
  if (at == std::string::npos || std::filesystem::exists(path, ignored)) return {path};
  for (; at != std::string::npos && at > 0; at = path.rfind('#', at - 1)) {
    auto file = path.substr(0, at);
    if (std::filesystem::exists(file, ignored)) return {std::move(file), path.substr(at + 1)};
  }
  return {path};
}

std::vector<std::string> selected_columns(const std::string& column) {
  const auto parts = split(column, '+');
  if (std::ranges::count(parts, "") > 0) return {column};
  return {parts.begin(), parts.end()};
}

std::string file_of_text(const std::string& path) {
  return split_text_path(path).file;
}

RecordFormat record_format(const std::string& file) {
  const auto ending = name_ending(file);
  if (const auto* found = find_format(ending)) return found->second;
  if (std::ranges::count(endings_without_columns, ending) > 0) {
    throw InputError(
        "{}: found a name in {}, expected a file with columns: tab-separated text, .csv, .jsonl or "
        ".tmx; save it as one of these",
        file, ending);
  }
  return RecordFormat::tab_separated;
}

bool is_named_as_records(const std::string& file) {
  return find_format(name_ending(file)) != nullptr;
}

std::string digest_suffix(const TextPath& path) {
  if (!path.column) return "";
  const auto format = static_cast<std::size_t>(record_format(path.file));
  return fmt::format("#{}:{}", format_names.at(format), *path.column);
}

}  // namespace regard
