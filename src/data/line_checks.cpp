#include "data/line_checks.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "data/feature_file.h"
#include "data/line_reader.h"
#include "text/unicode.h"

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

constexpr std::int64_t min_limit = 8192;

struct Cut {
  std::size_t end;
  bool in_word;
};

// Finds the place to cut a text of more than `max_bytes`.
Cut find_cut(std::string_view text, std::size_t max_bytes) {
  auto end = max_bytes;
  while (end > 0 && !begins_code_point(text, end)) --end;
  for (auto at = end; at > max_bytes / 2; at = previous_code_point(text, at)) {
    if (is_blank(code_point_at(text, at)) ||
        is_blank(code_point_at(text, previous_code_point(text, at)))) {
      return {at, false};
    }
  }
  // No word ends here. A letter and its marks stay together, up to this length.
  constexpr int max_grapheme = 64;  // in code points
  auto begin = end;
  for (int i = 0; i < max_grapheme && begin > 0; ++i) begin = previous_code_point(text, begin);
  const auto next = end + code_point_at(text, end).size();
  const auto last = decode_utf8(text.substr(begin, next - begin));
  const auto grapheme = last_grapheme(last);
  if (grapheme == 0) return {end, true};
  return {begin + encode_utf8(std::u32string_view(last).substr(0, grapheme)).size(), true};
}

}  // namespace

LineLimit text_limit(const DataOptions& options) {
  LineLimit limit;
  limit.bytes = static_cast<std::size_t>(std::max(min_limit, 64 * options.max_length));
  return limit;
}

LineLimit element_limit(const DataOptions& options) {
  LineLimit limit;
  limit.elements = static_cast<std::size_t>(std::max(min_limit, options.max_length));
  return limit;
}

LineLimit source_line_limit(const TextCodec& codec, const DataOptions& options) {
  const bool elements = codec.source->reads_elements() || codec.output == OutputKind::pointer;
  return elements ? element_limit(options) : text_limit(options);
}

LineLimit target_line_limit(const TextCodec& codec, const DataOptions& options) {
  return codec.target->reads_elements() ? element_limit(options) : text_limit(options);
}

void check_elements(std::string_view line, const LineLimit& limit, const std::string& name,
                    std::int64_t number) {
  if (line.size() / 2 < limit.elements) return;  // each element but the last is followed by a space
  const auto elements = split_at_ascii_space(line).size();
  if (elements <= limit.elements) return;
  throw InputError(
      "{}:{}: found {} elements, expected at most {} (8192, or data.max_length); split the line, "
      "as it cannot be truncated",
      name, number, elements, limit.elements);
}

std::optional<std::string> cut_long_line(std::string& line, const LineLimit& limit,
                                         const std::string& name, std::int64_t number) {
  check_elements(line, limit, name, number);
  if (line.size() <= limit.bytes) return std::nullopt;
  const auto bytes = line.size();
  const auto [end, in_word] = find_cut(line, limit.bytes);
  line.resize(end);
  line.shrink_to_fit();
  return fmt::format("{}:{}: the line has {}, of which only the first {} are read{}; split it",
                     name, number, counted(bytes, "byte"), end,
                     in_word ? ", up to the middle of a word" : "");
}

void truncate_line(std::string& line, const LineLimit& limit, const std::string& name,
                   std::int64_t number) {
  if (const auto warning = cut_long_line(line, limit, name, number)) {
    log::warning("{}", *warning);
  }
}

std::vector<std::string> truncate_lines(std::vector<std::string> lines, const LineLimit& limit,
                                        const std::string& name) {
  std::int64_t number = 0;
  for (auto& line : lines) truncate_line(line, limit, name, ++number);
  return lines;
}

void check_line_counts(const std::string& first_path, std::int64_t first,
                       const std::string& second_path, std::int64_t second) {
  if (first == second) return;
  throw InputError("{} has {}, but {} has {}: line i of one must belong to line i of the other{}{}",
                   input_name(first_path), counted(first, "line"), input_name(second_path),
                   counted(second, "line"), other_line_break(first_path),
                   other_line_break(second_path));
}

std::string other_line_break(const std::string& path) {
  if (is_feature_file(path)) return "";
  if (!is_file(path)) return "";
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    for (const auto& [character, name] : other_breaks) {
      if (line.find(character) == std::string::npos) continue;
      return fmt::format(" ({}:{} has {}, which does not end a line here)", path,
                         reader.line_number(), name);
    }
  }
  return "";
}

bool exceeds_max_ratio(std::int64_t a, std::int64_t b, double max_ratio) {
  if (max_ratio == 0) return false;
  return static_cast<double>(std::max(a, b)) > max_ratio * static_cast<double>(std::min(a, b));
}

}  // namespace regard
