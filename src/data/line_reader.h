// The lines of a text file, plain or gzip, or of standard input.
//
// A line ends at a line feed or the end of the file, and at nothing else: NUL, a lone carriage
// return, U+0085 and U+2028 are characters like others. One carriage return before the line feed,
// or at the end of the file, is dropped (files from Windows), and so is a byte order mark at the
// start of the file. docs/data.md has the whole of it for users; every text of regard's is read
// here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace regard {

class LineReader {
 public:
  // - is standard input. A line is returned as soon as its line feed is there.
  explicit LineReader(const std::string& path, bool may_grow = false) : bytes_(path, may_grow) {}
  LineReader(int descriptor, std::string name) : bytes_(descriptor, std::move(name)) {}

  // Puts the next line into `line`, or returns false at the end. InputError with name:line on bytes
  // that are not UTF-8 and on a line above 16 MB, and the errors of ByteStream.
  bool next(std::string& line);
  // Of the line that came last; the first is 1.
  std::int64_t line_number() const { return line_number_; }
  const std::string& name() const { return bytes_.name(); }
  // True if the text begins with a byte order mark; known from the first line on.
  bool had_byte_order_mark() const { return had_byte_order_mark_; }
  // As in ByteStream.
  bool changed() const { return bytes_.changed(); }

 private:
  bool read_raw(std::string& line);
  bool read_to_line_feed(std::string& line);

  ByteStream bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t line_number_ = 0;
  bool had_byte_order_mark_ = false;
};

// All lines of a file, plain or gzip; of standard input where it is -.
std::vector<std::string> read_lines(const std::string& path);

// How many lines a file has, without a look at their bytes. Only regular files: training reads its
// files several times. InputError, and where it changes meanwhile as in ByteStream.
std::int64_t count_lines(const std::string& path, bool may_grow = false);

// The same with the SHA-256 of the file's bytes, packed as they may be, in one reading.
struct TextDigest {
  std::int64_t lines = 0;
  std::string sha256;
};
TextDigest digest_of_text(const std::string& path);

}  // namespace regard
