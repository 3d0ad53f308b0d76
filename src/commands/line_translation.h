// What regard translate does with each line beyond the search: long ones in parts, words in place
// of <unk>.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/translate_arguments.h"
#include "commands/doubts.h"
#include "commands/ready_model.h"
#include "data/line_checks.h"
#include "translation/unknown_words.h"

namespace regard {

class LineTranslation {
 public:
  // ConfigError where the model or the search cannot do what is asked. All must outlive this.
  LineTranslation(const TranslateArguments& arguments, const TestingOptions& testing,
                  const ReadyModel& model, const Translator& translator);

  bool needs_weights() const { return unknown_words_.has_value(); }

  // As Translator::translate; `sentences` one for each line.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     const SearchOptions& search,
                                     const std::vector<SentenceOptions>& sentences,
                                     const std::function<void(std::int64_t)>& progress);

  // Warnings about all lines so far, and parts of lines.
  void log_doubts() const { doubts_.log(); }

 private:
  std::vector<std::string> parts_of(const std::string& line);
  std::vector<Translation> joined(const std::vector<Translation>& parts,
                                  const std::vector<std::size_t>& counts) const;

  const Translator& translator_;
  const Tokenizers& tokenizers_;
  std::int64_t batch_size_;
  std::int64_t split_length_;  // 0: no line is split
  LineLimit limit_;            // of a part
  std::string input_;
  std::int64_t lines_ = 0;  // so far
  std::optional<UnknownWords> unknown_words_;
  TokenizerKind kind_;
  Doubts doubts_;
};

}  // namespace regard
