// Reads lines in chunks and translates them, for `regard translate`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "commands/loaded_model.h"
#include "config/options.h"
#include "data/line_checks.h"
#include "translation/translator.h"
#include "translation/unknown_words.h"

namespace regard {

// Reads lines for translation on a background thread. A file is read in full chunks, which sort
// well by length. A pipe or a terminal returns the lines that have arrived, so interactive use
// needs no further input to get an answer.
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

// Counts input lines longer than any training sentence and translations cut off at the maximum
// length, to warn once at the end.
class TranslationWarnings {
 public:
  // The options must outlive this object.
  explicit TranslationWarnings(const Options& options) : options_(options) {}

  void add(const Translation& translation);
  void log() const;

 private:
  const Options& options_;
  std::int64_t sentences_ = 0;
  std::int64_t too_long_ = 0;
  std::int64_t cut_off_ = 0;
};

// Translates lines for `regard translate`: splits long lines, replaces <unk>, collects warnings.
class LineTranslator {
 public:
  // Throws ConfigError if the model or the search does not support an option. The model and the
  // translator must outlive this object.
  LineTranslator(const TranslateArguments& arguments, const TestingOptions& testing,
                 const LoadedModel& model, const Translator& translator);

  bool needs_weights() const { return unknown_words_.has_value(); }

  // Like Translator::translate(), with one entry of `sentences` per line.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     const SearchOptions& search,
                                     const std::vector<SentenceOptions>& sentences,
                                     const std::function<void(std::int64_t)>& progress);

  // Logs the warnings about all lines so far. Each part of a split line counts.
  void log_warnings() const { warnings_.log(); }

 private:
  std::vector<std::string> split(const std::string& line);
  std::vector<Translation> join(const std::vector<Translation>& parts,
                                const std::vector<std::size_t>& counts) const;

  const Translator& translator_;
  const Tokenizers& tokenizers_;
  std::int64_t batch_size_;
  std::int64_t split_length_;  // 0: lines are not split
  LineLimit limit_;            // of one part
  std::string input_;
  std::int64_t lines_ = 0;  // so far
  std::optional<UnknownWords> unknown_words_;
  TokenizerKind kind_;
  TranslationWarnings warnings_;
};

}  // namespace regard
