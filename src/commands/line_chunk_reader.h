// Reads lines for translation on a background thread. A file is read in full chunks, which sort
// well by length. A pipe or a terminal returns the lines that have arrived, so interactive use
// needs no further input to get an answer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "data/line_checks.h"

namespace regard {

class LineChunkReader {
 public:
  // `path` is plain or gzip, or standard input if empty or "-". A chunk has at most `max_lines`
  // lines and ends after 64 MB. Cuts lines beyond `limit` or throws InputError
  // (data/line_checks.h). Throws InputError if the file cannot be read.
  LineChunkReader(const std::string& path, std::size_t max_lines, const LineLimit& limit);
  ~LineChunkReader();
  LineChunkReader(const LineChunkReader&) = delete;
  LineChunkReader& operator=(const LineChunkReader&) = delete;

  // Returns the next chunk, empty at the end. Throws the InputError of a line after returning all
  // lines before it. Warns of cut lines, and if the file changed while it was read.
  std::vector<std::string> next();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace regard
