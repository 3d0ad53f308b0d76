#include "data/line_checks.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "data/line_reader.h"

namespace regard {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> other_breaks = {{
    {"\r", "a lone carriage return"},
    {"\u2028", "a line separator (U+2028)"},
    {"\u2029", "a paragraph separator (U+2029)"},
    {"\u0085", "a next-line character (U+0085)"},
    {"\v", "a vertical tab (U+000B)"},
    {"\f", "a form feed (U+000C)"},
}};

}  // namespace

std::string count_of_lines(std::int64_t lines) {
  return fmt::format("{} line{}", lines, lines == 1 ? "" : "s");
}

std::size_t longest_line(const DataOptions& options) {
  return static_cast<std::size_t>(std::max<std::int64_t>(8192, 64 * options.max_length));
}

std::optional<std::string> cut_long_line(std::string& line, std::size_t longest,
                                         const std::string& name, std::int64_t number) {
  if (line.size() <= longest) return std::nullopt;
  const auto bytes = line.size();
  auto end = longest;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  line.resize(end);
  line.shrink_to_fit();
  return fmt::format("{}:{}: the line has {} bytes, of which only the first {} are read; split it",
                     name, number, bytes, end);
}

void check_line_counts(const std::string& first_path, std::int64_t first,
                       const std::string& second_path, std::int64_t second) {
  if (first == second) return;
  throw InputError("{} has {}, but {} has {}: line i of one must belong to line i of the other{}{}",
                   input_name(first_path), count_of_lines(first), input_name(second_path),
                   count_of_lines(second), other_line_break(first_path),
                   other_line_break(second_path));
}

std::string other_line_break(const std::string& path) {
  if (!is_file(path)) return "";
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    for (const auto& [character, name] : other_breaks) {
      if (line.find(character) == std::string::npos) continue;
      return fmt::format(" ({}:{} has {}, which ends no line here)", path, reader.line_number(),
                         name);
    }
  }
  return "";
}

}  // namespace regard
