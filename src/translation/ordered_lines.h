// Lines whose translations are written in input order, such as those of a file.
//
// The lines of a TranslationQueue end in any order. A line that ends before its turn is kept; the
// thread that ends the next line of the output writes it, and those that were kept behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "translation/translation_queue.h"

namespace regard {

// Input and output. The functions are called from any thread; finish() also from several threads at
// once. read(), write() and progress() do not overlap themselves, but each may overlap the others.
// Each may throw: the error of the first line that has one ends the translation. `index` of a line
// belongs to the caller.
class OrderedLines {
 public:
  virtual ~OrderedLines() = default;

  // As LineStream::read(). After an exception, the lines appended before it are translated and
  // written, and read() is not called again.
  virtual bool read(bool few, std::vector<QueuedLine>& lines) = 0;
  // As LineStream::on_arrival().
  virtual void on_arrival(const std::function<void()>& /*arrived*/) {}

  // Stores the translation of a line in line.translation. `sentences` has one element per part, or
  // one for the whole line.
  virtual void finish(QueuedLine& line, std::vector<Translation> sentences) {
    line.translation = std::move(sentences.front());
  }
  // Takes the next lines of the output.
  virtual void write(std::vector<QueuedLine> lines) = 0;
  // Called after each batch with the number of finished lines.
  virtual void progress(std::int64_t /*finished*/) {}

  // True if the lines before a line with an error are worth translating.
  virtual bool keeps_lines_before_error() const { return true; }
};

// Calls `translate` with a stream for a TranslationQueue. Returns when all lines are written.
// Throws the error of the first line that has one; those before it are written if
// keeps_lines_before_error(). At most `most_lines` are read and not written.
void translate_in_order(OrderedLines& lines, std::size_t most_lines,
                        const std::function<void(LineStream&)>& translate);

}  // namespace regard
