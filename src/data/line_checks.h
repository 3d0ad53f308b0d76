// What is asked of lines before a model sees them: as many on either side, and none endless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "config/data_options.h"

namespace regard {

// In bytes. A longer line is no sentence but a table, say, or a file without line feeds, and one
// alone could take all memory. Training leaves its pair out, everything else reads its beginning.
// 8192, or 64 for each token of data.max_length.
std::size_t longest_line(const DataOptions& options);

// Cuts a line that is longer at the last code point that fits; then what is to be said of it, with
// `name`:`number`.
std::optional<std::string> cut_long_line(std::string& line, std::size_t longest,
                                         const std::string& name, std::int64_t number);

std::string count_of_lines(std::int64_t lines);  // "1 line", "2 lines"

// InputError unless the two files have equally many lines. Where one has a character that ends a
// line for other programs, the error names the first such place.
void check_line_counts(const std::string& first_path, std::int64_t first,
                       const std::string& second_path, std::int64_t second);

// " (path:line has …)" for the first such character of a regular file, or nothing. InputError where
// the file is no text: that comes first.
std::string other_line_break(const std::string& path);

}  // namespace regard
