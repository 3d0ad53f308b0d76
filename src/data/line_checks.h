// Checks of input lines: equal counts on both sides, and limits on their length.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_options.h"
#include "data/text_codec.h"

namespace regard {

// The maximum length of a line of one side. A longer line is not a sentence but, for example, a
// table or a file without line feeds, and could use all memory. Training skips a pair with too many
// bytes; everything else reads the beginning of such a line. A line with too many elements is
// always an error, as it means something else without some of its numbers or positions.
struct LineLimit {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  std::size_t elements = std::numeric_limits<std::size_t>::max();  // separated by white space
};

// Text may have 8192 bytes per line, or 64 bytes per token of data.max_length if that is more; a
// sequence of elements may have 8192 elements, or data.max_length. Elements are vectors of numbers,
// positions, and source words that positions refer to.
LineLimit source_line_limit(const TextCodec& codec, const DataOptions& options);
LineLimit target_line_limit(const TextCodec& codec, const DataOptions& options);
LineLimit text_limit(const DataOptions& options);
LineLimit element_limit(const DataOptions& options);

// Throws InputError with `name`:`number` if the line has too many elements.
void check_elements(std::string_view line, const LineLimit& limit, const std::string& name,
                    std::int64_t number);

// Truncates a line with too many bytes at the last white space that fits, or, if there is none in
// the second half of the limit, after the last whole character. Returns a warning with
// `name`:`number`, or nullopt if the line fits. Throws as check_elements() does.
std::optional<std::string> cut_long_line(std::string& line, const LineLimit& limit,
                                         const std::string& name, std::int64_t number);
// As cut_long_line(), but logs the warning.
void truncate_line(std::string& line, const LineLimit& limit, const std::string& name,
                   std::int64_t number);
// Returns the lines of `name`, each truncated by truncate_line().
std::vector<std::string> truncate_lines(std::vector<std::string> lines, const LineLimit& limit,
                                        const std::string& name);

// Throws InputError if the line counts of two files differ. The message names the first character
// in each file that ends a line for other programs.
void check_line_counts(const std::string& first_path, std::int64_t first,
                       const std::string& second_path, std::int64_t second);
// The same for any integers.
template <std::integral First, std::integral Second>
void check_line_counts(const std::string& first_path, First first, const std::string& second_path,
                       Second second) {
  check_line_counts(first_path, static_cast<std::int64_t>(first), second_path,
                    static_cast<std::int64_t>(second));
}

// Returns " (path:line has …)" for the first such character of a regular file, or an empty string.
// Throws InputError if the text before it is invalid.
std::string other_line_break(const std::string& path);

// True if the longer side of a pair has more than max_ratio times the tokens of the shorter one.
// 0: no limit.
bool exceeds_max_ratio(std::int64_t a, std::int64_t b, double max_ratio);

}  // namespace regard
