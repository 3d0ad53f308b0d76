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
// has not, with tabs between them. An empty line asks nothing, and a blank line of input stays
// blank whatever is asked of it.
class SentenceFeed {
 public:
  // ConfigError where the model or the search cannot do what is asked. Where all are regular files
  // they are read through first: what take() or check_end() would say is said before anything is
  // translated.
  SentenceFeed(const TranslateArguments& arguments, const TestingOptions& testing,
               const ReadyModel& model);

  // The next `count` lines', with their numbers. InputError with file:line where a file has fewer,
  // where a word to be said is none of the vocabulary's, and where what is asked cannot be. A
  // banned word that the vocabulary lacks is passed over, with a warning for the first.
  std::vector<SentenceOptions> take(std::size_t count);
  // After the last: InputError where a file has more.
  void check_end();

  // Looks whether a translation has what was demanded of it: what is banned, or the greatest
  // length, can leave no way. check_all_met() throws the InputError, at the end.
  void look_at(const SentenceOptions& sentence, const Translation& translation);
  void check_all_met() const;

  // Of the target's tokens (text/inside_words.h).
  const std::vector<bool>& inside_words() const { return inside_words_; }

 private:
  struct File {
    std::string option;
    std::unique_ptr<LineReader> reader;
    std::string line;
  };

  void open(const TranslateArguments& arguments, const TestingOptions& testing);
  void rehearse(const std::string& input);
  bool next(File& file, std::int64_t number);
  std::vector<std::int32_t> encode(const File& file, const std::string& phrase) const;
  std::vector<std::vector<std::int32_t>> phrases(const File& file) const;
  std::vector<std::vector<std::int32_t>> bans();
  void check(const SentenceOptions& sentence) const;
  std::string place(const File& file) const;

  const Tokenizers& tokenizers_;
  std::vector<bool> inside_words_;
  std::int64_t longest_;
  std::int64_t read_ = 0;  // lines
  File prefixes_, demanded_, banned_;
  bool warned_ = false;
  std::vector<std::int64_t> unmet_;  // lines
};

}  // namespace regard
