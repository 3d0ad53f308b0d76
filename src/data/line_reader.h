// Reads the lines of a text: of a file, plain or compressed, of a column of a file of records
// (data/text_stream.h), or of standard input. All texts are read with it.
//
// A line ends at a line feed or at the end of the file, and nowhere else: NUL, a lone carriage
// return, U+0085 and U+2028 are ordinary characters. One carriage return before the line feed or
// the end of the file (files from Windows) and a byte order mark at the start of the file are
// dropped. docs/data.md describes the rules for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_options.h"
#include "data/text_stream.h"

namespace regard {

class LineReader {
 public:
  // Opens FILE or FILE#COLUMN; "-" is standard input. next() returns a line as soon as its line
  // feed arrives. If the text is the source of a model that reads features, a file of features
  // reads as the names of its items (data/feature_file.h). Throws as FeatureFile does.
  explicit LineReader(const std::string& path, SourceKind source = SourceKind::text);

  // Stores the next line in `line`; returns false at the end. Throws InputError with name:line for
  // invalid UTF-8 and for a line above 16 MB, and the errors of TextStream.
  bool next(std::string& line);
  // The same for the bytes up to the line feed, which text_of_line() converts to the text; of a
  // line above 16 MB, only the beginning, for which text_of_line() throws.
  bool next_raw(std::string& line);
  // Returns the number of the last line read; the first is 1. In a column, it is the number of the
  // record.
  std::int64_t line_number() const { return line_number_; }
  const std::string& name() const { return bytes_.name(); }
  // The bytes at the end of the last line that are no part of it: LF, CR LF, or less at the end.
  const std::string& line_end() const { return line_end_; }
  // True if the text begins with a byte order mark. Valid after the first line.
  bool had_byte_order_mark() const { return had_byte_order_mark_; }
  // See TextStream.
  void hash_into(Sha256& hash) {
    hashes_ = true;
    bytes_.hash_into(hash);
  }

 private:
  bool read(std::string& line, bool skips_excess);
  bool read_item(std::string& line);
  void refill();

  TextStream bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t line_number_ = 0;
  std::string line_end_;
  bool had_byte_order_mark_ = false;
  bool hashes_ = false;
  std::int64_t items_ = -1;  // of a file of features; -1 for text
};

// The maximum length of a line in bytes: no sentence is longer, and a gzip file of some kilobytes
// could hold a line of gigabytes.
inline constexpr std::size_t max_line_bytes = std::size_t{16} << 20;

// Returns the text of a line: its bytes up to the line feed, without a carriage return at the end
// and, in the first line, without a byte order mark. `number` counts from 1. Throws InputError with
// `name`:`number` for invalid UTF-8, for more than max_line_bytes, and if a first line is UTF-16.
std::string_view text_of_line(std::string_view bytes, std::int64_t number, const std::string& name);

// Throws InputError if `path` is not a regular file or a column of one, as training may read its
// files several times.
void check_rereadable(const std::string& path);

// Warns if the name of a file says that it has columns, and none is named: it is read line by line.
void warn_of_missing_column(const std::string& path);

// Returns all lines of a text, as LineReader reads them.
std::vector<std::string> read_lines(const std::string& path, SourceKind source = SourceKind::text);

// Counts the lines of a file without validating them. Throws InputError if the file is not regular,
// as training reads its files several times, and the errors of LineReader::next_raw().
std::int64_t count_lines(const std::string& path, SourceKind source = SourceKind::text);

}  // namespace regard
