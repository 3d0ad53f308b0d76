// Lines for translation, read ahead by a thread of its own: a file gives whole chunks, which sort
// well by length; a pipe or a terminal gives what has come so far, so that nobody waits for an
// answer until he has asked something else.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "data/line_checks.h"

namespace regard {

class LineFeed {
 public:
  // `path` is plain or gzip; standard input when it is empty or "-". A chunk has at most `most`
  // lines, and no more behind 64 MB; a line beyond the limit is cut, or an InputError. InputError
  // where the file cannot be read.
  LineFeed(const std::string& path, std::size_t most, const LineLimit& limit);
  ~LineFeed();
  LineFeed(const LineFeed&) = delete;
  LineFeed& operator=(const LineFeed&) = delete;

  // The next chunk, in order; none at the end. An InputError on a line is thrown after all lines
  // before it were given. Warns of lines that were cut, and of a file that grew meanwhile.
  std::vector<std::string> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace regard
