// Reads the constraints on each translation: files whose line i belongs to line i of the input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "config/data_options.h"
#include "data/line_reader.h"
#include "decoding/search.h"
#include "translation/phrase_constraints.h"
#include "translation/translation_queue.h"

namespace regard {

// --prefixes: the words that a translation begins with. --require and --ban: phrases that it must
// or must not contain, separated by tabs. An empty line sets no constraint. A blank input line
// always has a blank translation, whatever its constraints.
class ConstraintReader {
 public:
  // `input` is the path of the lines. If all constraint files are regular files, reads them once in
  // advance, so that the errors of next() and check_end() are thrown before anything is translated.
  // `phrases` must outlive this object.
  ConstraintReader(const ConstraintFiles& files, const std::string& input,
                   std::int64_t max_output_length, SourceKind source, const PhraseEncoder& phrases);

  // Returns the constraints of the next line, with its number. Throws InputError with file:line if
  // a file has too few lines, a required word is not in the vocabulary, or
  // constraints contradict each other. Ignores a banned word that is not in the vocabulary, with a
  // warning for the first.
  SentenceOptions next();
  // Call after the last line. Throws InputError if a file has more lines.
  void check_end();

  // Thread-safe beside next(). Records whether a translation lacks required phrases or translations
  // of terms. check_all_met() then throws InputError; `glossary` is the file of the terms, or
  // empty.
  void check_translation(const SentenceOptions& sentence, const Translation& translation);
  void check_all_met(const std::string& glossary) const;

 private:
  struct File {
    std::string option;                  // e.g. "--prefixes"
    std::unique_ptr<LineReader> reader;  // null if the option was not given
    std::string line;                    // the last line read
  };

  void open(const ConstraintFiles& files);
  void validate_files(const std::string& input, SourceKind source);
  // Reads line `number` into file.line. Returns false if the option was not given.
  bool next_line(File& file, std::int64_t number);
  void add_bad_words(SentenceOptions& sentence);
  void check(const SentenceOptions& sentence) const;
  std::string location(const File& file) const;  // file:line

  const PhraseEncoder& phrases_;
  std::string input_;  // name
  std::int64_t max_output_length_;
  std::int64_t lines_read_ = 0;
  File prefixes_, required_, bad_words_;
  bool warned_ = false;              // of a banned word that is not in the vocabulary
  std::vector<std::int64_t> unmet_;  // numbers of lines without all required phrases
};

}  // namespace regard
