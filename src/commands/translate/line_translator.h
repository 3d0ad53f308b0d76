// Reads lines in chunks, and splits and joins them, for `regard translate`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "config/options.h"
#include "data/line_checks.h"
#include "translation/translator.h"
#include "translation/unknown_words.h"

namespace regard {

// Reads lines for translation on a background thread. A file is read in full chunks, which sort
// well by length. The lines of a pipe or a terminal can be taken as soon as they have arrived, so
// interactive use needs no further input to get an answer. Thread-safe.
class LineChunkReader {
 public:
  // `path` is plain or gzip, or standard input if empty or "-". A chunk has at most `max_lines`
  // lines and ends after 64 MB. Cuts lines beyond `limit` or throws InputError
  // (data/line_checks.h). Throws InputError if the file cannot be read.
  LineChunkReader(const std::string& path, std::size_t max_lines, const LineLimit& limit,
                  SourceKind source);
  ~LineChunkReader();
  LineChunkReader(const LineChunkReader&) = delete;
  LineChunkReader& operator=(const LineChunkReader&) = delete;

  // Returns a full chunk or, with `few`, the lines of a pipe or a terminal that have arrived. Empty
  // if too few have arrived. Throws the InputError of a line after returning all lines before it.
  // Warns of cut lines, and if the file changed while it was read.
  std::vector<std::string> take(bool few);
  // True if all lines were taken.
  bool at_end() const;
  // Sets a function that the reading thread calls when take() may return lines again. It must not
  // call this object. An empty function unsets it.
  void on_arrival(std::function<void()> arrived);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// Counts input lines longer than any training sentence and translations cut off at the maximum
// length, to warn once at the end.
class TranslationWarnings {
 public:
  // The options must outlive this object.
  explicit TranslationWarnings(const Options& options) : options_(options) {}

  void add(const Translation& translation);  // thread-safe
  void log() const;

 private:
  const Options& options_;
  std::atomic<std::int64_t> sentences_ = 0;
  std::atomic<std::int64_t> too_long_ = 0;
  std::atomic<std::int64_t> cut_off_ = 0;
};

// Prepares a line for translation and finishes its result: splits long lines, joins the
// translations of the parts, replaces <unk>, collects warnings.
class LineTranslator {
 public:
  // `input` is the path of the lines; 0 for `split_length` does not split them. The model and the
  // translator must outlive this object.
  LineTranslator(const std::string& input, std::int64_t split_length,
                 std::optional<UnknownWords> unknown_words, const LoadedModel& model,
                 const Translator& translator);

  bool needs_weights() const { return unknown_words_.has_value(); }

  // Returns the parts of line `number`, from 1; empty if lines are not split. Warns of parts that
  // are cut because they are too long. Lines that are not split were cut by LineChunkReader.
  std::vector<std::string> split(const std::string& line, std::int64_t number) const;
  // Returns the translation of a line from those of its parts, at least one. Thread-safe.
  Translation join(std::vector<Translation> parts);

  // Logs the warnings about all lines so far. Each part of a split line counts.
  void log_warnings() const { warnings_.log(); }

 private:
  const Translator& translator_;
  const TextCodec& codec_;
  std::int64_t split_length_;  // 0: lines are not split
  const std::vector<std::string>& user_symbols_;
  LineLimit limit_;  // of one part
  std::string input_;
  std::optional<UnknownWords> unknown_words_;
  TokenizerKind kind_;
  TranslationWarnings warnings_;
};

}  // namespace regard
