// The bytes of a text: those of a file (data/byte_stream.h), or a column of a file of records, one
// line for each record. All lines are read from it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "data/byte_stream.h"
#include "data/text_path.h"

namespace regard {

class ColumnReader;
class Sha256;

// Line i of a column is the field of record i, so two columns of one file are parallel. A number
// counts the columns of a table from 1, and each of its lines is a record; a name is one in its
// first line, which is no record. A key of JSON has dots between its levels. A language `en` is
// also found as `en-GB`. Columns with + between them are read as one, with a space between the
// texts that are not empty; a column whose whole name has a + comes first. A record without the
// language, an empty record and a JSON null are empty lines. All errors are InputErrors: those of
// ByteStream and RecordReader, and with the file and its line if there is no such column, or a
// value is not text.
class TextStream {
 public:
  // Opens FILE or FILE#COLUMN; "-" is standard input.
  explicit TextStream(const std::string& path);
  ~TextStream();

  // Adds the bytes of the file as stored, and digest_suffix(), to `hash`. See ByteStream.
  void hash_into(Sha256& hash);
  // As ByteStream::read().
  std::size_t read(char* to, std::size_t size) {
    return bytes_ ? bytes_->read(to, size) : read_column(to, size);
  }
  // Returns the path: FILE, FILE#COLUMN or "standard input".
  const std::string& name() const { return name_; }
  bool is_column() const { return column_ != nullptr; }

 private:
  std::size_t read_column(char* to, std::size_t size);

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;     // null for a column
  std::unique_ptr<ColumnReader> column_;  // null for a file of lines
  std::string pending_;                   // of the line in work, with its line feed
  std::size_t begin_ = 0;                 // of the bytes of `pending_` that were not read yet
};

}  // namespace regard
