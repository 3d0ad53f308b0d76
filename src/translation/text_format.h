// The texts of a file that are translated. Everything between them is copied byte by byte.
//
//   text     each line; its line end becomes LF
//   tsv      one column of each line, which tabs separate. Nothing is quoted
//   jsonl    one string of the JSON value on each line. Each line of the string is translated by
//            itself
//   html     the text of each block of an HTML document with its inline elements, see
//            html_segments.h
//
// Blank texts and JSON nulls are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_options.h"
#include "data/line_reader.h"
#include "text/markup.h"

namespace regard {

struct TextFormat {
  enum class Kind { text, tsv, jsonl, html };

  Kind kind = Kind::text;
  std::string field = {};  // tsv: the name of a column in the first line, or its number, from 1
                           // jsonl: keys, and indices of arrays from 0, with dots between them
};

// Returns the format that --format names: text, tsv:COLUMN, jsonl:KEY or html. If `option` is
// empty, the ending of the file `input` tells it, before that of a compression. Throws ConfigError
// for another name, and for an ending that needs a column or a key.
TextFormat text_format(const std::string& option, const std::string& input);

// A text to translate, and the bytes around it.
struct Segment {
  std::string before = {};
  MarkedLine line = {};
  std::string after = {};
  TextFormat::Kind kind = TextFormat::Kind::text;
  std::int64_t number = 0;  // of the input line in which it begins

  // Returns the bytes of the output for a translation with its markup.
  std::string output(std::string_view translation) const;
  std::size_t bytes() const;
};

// Reads the segments of a text, plain or gzip, or of standard input. Those of lines are there as
// soon as their line is; a document is read as a whole.
class SegmentReader {
 public:
  // Takes `markup` out of the texts; `symbols` are words of the model that look like tags. "-" is
  // standard input. Throws as LineReader does.
  explicit SegmentReader(const std::string& path, TextFormat format = {},
                         const MarkupKinds& markup = {}, std::vector<std::string> symbols = {},
                         SourceKind source = SourceKind::text);

  // Stores the next segment; returns false at the end. Throws InputError with file:line for a line
  // without the column, for text that is not JSON or has no string at the key, and for a document
  // above 16 MB; and the errors of LineReader.
  bool next(Segment& segment);

  const std::string& name() const { return reader_.name(); }
  // As of LineReader.
  std::int64_t line_number() const { return reader_.line_number(); }

 private:
  void read_line();
  void add(std::string before, std::string_view text, std::string after);
  void read_column(const std::string& line);
  void find_column(const std::string& line);
  void read_json(const std::string& line);
  void read_document();
  [[noreturn]] void reject(const std::string& fault) const;

  LineReader reader_;
  TextFormat format_;
  MarkupKinds markup_;
  std::vector<std::string> symbols_;
  std::size_t column_ = 0;       // from 1; 0 until it is known
  std::deque<Segment> waiting_;  // segments of lines that were read
  bool ended_ = false;
};

}  // namespace regard
