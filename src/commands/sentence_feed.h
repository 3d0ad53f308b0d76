// What the user asks of each line's translation: files whose line i belongs to line i of the input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/translate_arguments.h"
#include "commands/ready_model.h"
#include "data/line_reader.h"
#include "decoding/search.h"

namespace regard {

// --prefixes: the words that a translation begins with. --demand, --ban: phrases that it has, and
// has not, with tabs between them. An empty line asks nothing.
class SentenceFeed {
 public:
  // ConfigError where the model or the search cannot do what is asked.
  SentenceFeed(const TranslateArguments& arguments, const TestingOptions& testing,
               const ReadyModel& model);

  // The next `count` lines', with their numbers. InputError with file:line where a file has fewer,
  // where a word is none of the vocabulary's, and where what is asked cannot be.
  std::vector<SentenceOptions> take(std::size_t count);
  // After the last: InputError where a file has more.
  void check_end();

  // InputError where a translation lacks what was demanded of it: what is banned, or the greatest
  // length, can leave no way.
  void check_met(const SentenceOptions& sentence, const Translation& translation) const;

  // The tokens of a sub-word vocabulary that begin no word; else none.
  std::vector<std::int64_t> inside_words() const;

 private:
  struct File {
    std::string option;
    std::unique_ptr<LineReader> reader;
    std::string line;
  };

  bool next(File& file, std::int64_t number);
  std::vector<std::int32_t> encode(const File& file, const std::string& phrase) const;
  std::vector<std::vector<std::int32_t>> phrases(const File& file) const;
  void check(const SentenceOptions& sentence) const;
  std::string place(const File& file) const;

  const Tokenizers& tokenizers_;
  TokenizerKind kind_;
  std::int64_t longest_;
  std::int64_t read_ = 0;  // lines
  File prefixes_, demanded_, banned_;
};

}  // namespace regard
