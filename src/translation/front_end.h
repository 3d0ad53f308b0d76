// The steps between a line of text and the sentences of a search: constraints, glossaries, parts of
// lines. `translate`, the server and the library share them, except max_words(): `translate` has
// more options that need whole lines (longest_part() in cli/arguments.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/data_options.h"
#include "data/line_checks.h"
#include "translation/glossary.h"
#include "translation/long_lines.h"
#include "translation/model_folder.h"
#include "translation/phrase_constraints.h"

namespace regard {

// Immutable.
class FrontEnd {
 public:
  explicit FrontEnd(const TranslationModel& model);

  const PhraseEncoder& phrases() const { return phrases_; }
  // The maximum length of a line that is not split, and of each part of another.
  const LineLimit& limit() const { return limit_; }

  // Throws ConfigError if the model does not translate words, and the errors of Glossary.
  std::shared_ptr<const Glossary> glossary(const std::vector<GlossaryEntry>& entries) const;

  // Returns the `max_words` with which split() splits a line of a request to the server or the
  // library; nullopt if it must stay whole, as each line of a source that is not text. A
  // `split_length` of 0 splits sentences unless the search is for whole lines: each part would have
  // hypotheses, samples or a tree of its own, and constraints apply to the line. Throws ConfigError
  // if split_length is above 0 and the source of the model is not text.
  std::optional<std::int64_t> max_words(std::int64_t split_length, bool whole_lines,
                                        const SearchRequest& search, bool has_constraints) const;
  // As LineSplitter::split().
  std::vector<std::string> split(const std::string& line, std::int64_t max_words) const {
    return splitter_.split(line, max_words);
  }
  // Returns the translation of a line from those of its parts, at least one: the only one with all
  // its hypotheses, or join_translations(). `codec` has the tags of the line.
  Translation join(std::vector<Translation> parts, const TextCodec& codec) const;

 private:
  TokenizerOptions tokenizer_;
  bool translates_text_;
  LineLimit limit_;
  PhraseEncoder phrases_;
  LineSplitter splitter_;
};

}  // namespace regard
