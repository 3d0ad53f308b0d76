// Reads files of records, one record at a time: tab-separated text, CSV (RFC 4180), JSON Lines and
// TMX, plain or compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_path.h"

namespace regard {

class Sha256;

struct RecordField {
  std::string name = {};        // a key with dots, or a language; "" in a table
  std::string text = {};        // without line feeds
  std::string_view other = {};  // what is there instead of text, such as "a number"; "" for text
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // Stores the fields of the next record; returns false at the end. An empty line is a record of
  // one empty field. Throws InputError with file:line for a record that is not in the format, and
  // as LineReader does.
  virtual bool next(std::vector<RecordField>& fields) = 0;
  // Returns the line of the file on which the last record begins; the first is 1.
  virtual std::int64_t line() const = 0;
  // See ByteStream.
  virtual void hash_into(Sha256& hash) = 0;
};

std::unique_ptr<RecordReader> open_records(const std::string& file, RecordFormat format);

// Opens a translation memory (tmx_reader.cpp).
std::unique_ptr<RecordReader> open_tmx(const std::string& file);

// Appends text to that of a field. A line feed, with a carriage return before it or not, becomes a
// space.
void append_text(std::string& field, std::string_view text);

}  // namespace regard
