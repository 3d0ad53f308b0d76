// Reads texts in chunks, and splits and joins them, for `regard translate`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "config/options.h"
#include "data/line_checks.h"
#include "translation/front_end.h"
#include "translation/text_format.h"
#include "translation/translator.h"
#include "translation/unknown_words.h"

namespace regard {

// Reads lines, or the texts of another format, for translation on a background thread. A file is
// read in full chunks, which sort well by length. The lines of a pipe or a terminal can be taken as
// soon as they have arrived, so interactive use needs no further input to get an answer.
// Thread-safe.
class LineChunkReader {
 public:
  // `path` is the file of `reader`, or standard input if empty or "-". A chunk has at most
  // `max_lines` lines and ends after 64 MB. Cuts texts beyond `limit` or throws InputError
  // (data/line_checks.h).
  LineChunkReader(std::unique_ptr<SegmentReader> reader, const std::string& path,
                  std::size_t max_lines, const LineLimit& limit);
  // Reads lines of text. Throws InputError if the file cannot be read.
  LineChunkReader(const std::string& path, std::size_t max_lines);
  ~LineChunkReader();
  LineChunkReader(const LineChunkReader&) = delete;
  LineChunkReader& operator=(const LineChunkReader&) = delete;

  // Returns a full chunk or, with `few`, the lines of a pipe or a terminal that have arrived. Empty
  // if too few have arrived. Throws the InputError of a line after returning all lines before it.
  // Warns of cut lines.
  std::vector<Segment> take(bool few);
  // True if all lines were taken.
  bool at_end() const;
  // Sets a function that the reading thread calls when take() may return lines again. It must not
  // call this object. An empty function unsets it.
  void on_arrival(std::function<void()> arrived);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// Counts unknown words, input lines longer than those of training, translations that are much
// shorter than their sources, and translations cut off at the maximum length, to warn once at the
// end.
class TranslationWarnings {
 public:
  // `input` is the name of the lines. The options and the codec must outlive this object.
  TranslationWarnings(std::string input, const Options& options, const TextCodec& codec)
      : input_(std::move(input)), options_(options), codec_(codec) {}

  // Adds the translation of line `number` or of a part of it. Thread-safe.
  void add(const Translation& translation, std::int64_t number);
  void log() const;

 private:
  // Sentences with a fault, and the first line with one.
  struct Fault {
    std::int64_t count = 0;
    std::int64_t line = 0;
    std::int64_t source = 0;  // tokens
    std::int64_t target = 0;

    void add(std::int64_t number, const Translation& translation);
  };

  std::string input_;
  const Options& options_;
  const TextCodec& codec_;
  std::mutex mutex_;
  void log_unknown_words() const;

  Fault unusually_long_, short_;                        // guarded by mutex_
  std::pair<std::int64_t, std::string> first_unknown_;  // line and word, guarded by mutex_
  std::atomic<std::int64_t> tokens_ = 0;
  std::atomic<std::int64_t> unknown_ = 0;
  std::atomic<std::int64_t> sentences_ = 0;
  std::atomic<std::int64_t> too_long_ = 0;
  std::atomic<std::int64_t> cut_off_ = 0;
};

// Prepares a line for translation and finishes its result: splits long lines, joins the
// translations of the parts, replaces <unk>, collects warnings.
class LineTranslator {
 public:
  // `input` is the path of the lines. See longest_part() for `max_words`. The model, the
  // translator and the front end must outlive this object.
  LineTranslator(const std::string& input, std::optional<std::int64_t> max_words,
                 std::optional<UnknownWords> unknown_words, const LoadedModel& model,
                 const Translator& translator, const FrontEnd& front_end);

  bool needs_weights() const { return unknown_words_.has_value(); }

  // Returns the parts of line `number`, from 1; empty if it is not split. Warns of parts that
  // are cut because they are too long. Lines that are not split were cut by LineChunkReader.
  std::vector<std::string> split(const std::string& line, std::int64_t number) const;
  // Returns the translation of a line from those of its parts, at least one. Thread-safe.
  // `segment` is what the line is part of, or null: its markup is put back.
  Translation join(std::vector<Translation> parts, std::int64_t number, const Segment* segment);

  // Logs the warnings about all lines so far. Each part of a split line counts.
  void log_warnings() const { warnings_.log(); }

 private:
  const Translator& translator_;
  const TextCodec& codec_;
  const FrontEnd& front_end_;
  std::optional<std::int64_t> max_words_;  // nullopt: lines are not split
  std::string input_;
  std::optional<UnknownWords> unknown_words_;
  TokenizerKind kind_;
  TranslationWarnings warnings_;
};

}  // namespace regard
