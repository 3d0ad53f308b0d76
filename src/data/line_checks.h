// What is asked of lines before a model sees them: as many on either side, and none endless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "config/data_options.h"
#include "data/tokenizers.h"

namespace regard {

// The longest line of one side. A longer one is no sentence but a table, say, or a file without
// line feeds, and one alone could take all memory. Training leaves out a pair with too many bytes,
// everything else reads the beginning of such a line. A line with too many elements is an error
// everywhere: without some of its numbers or positions it says something else.
struct LineLimit {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  std::size_t elements = std::numeric_limits<std::size_t>::max();  // between white space
};

// 8192 bytes of text, or 64 for each token of data.max_length; or 8192 elements, or data.max_length
// of them. Elements are vectors of numbers, positions, and the source words that positions are of.
LineLimit source_line_limit(const Tokenizers& tokenizers, const DataOptions& options);
LineLimit target_line_limit(const Tokenizers& tokenizers, const DataOptions& options);
LineLimit text_limit(const DataOptions& options);
LineLimit element_limit(const DataOptions& options);

// Throws InputError with `name`:`number` if the line has too many elements.
void check_elements(std::string_view line, const LineLimit& limit, const std::string& name,
                    std::int64_t number);

// Cuts a line with too many bytes at the last white space that fits; if there is none in its second
// half, behind the last whole character. Returns the warning to give, with `name`:`number`, or
// nothing. Throws as check_elements() does.
std::optional<std::string> cut_long_line(std::string& line, const LineLimit& limit,
                                         const std::string& name, std::int64_t number);

// InputError unless the two files have equally many lines. Where one has a character that ends a
// line for other programs, the error names the first such place.
void check_line_counts(const std::string& first_path, std::int64_t first,
                       const std::string& second_path, std::int64_t second);

// " (path:line has …)" for the first such character of a regular file, or nothing. InputError where
// the file is no text: that comes first.
std::string other_line_break(const std::string& path);

}  // namespace regard
