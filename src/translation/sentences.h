// Sentence boundaries.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// Splits text into sentences by the rules of Unicode annex 29, for all scripts, with ICU. A full
// stop of an abbreviation ends none: of a title ("Dr. Jones"), an initial ("J. Smith"), or letters
// with full stops ("z.B. Äpfel"). ICU's own lists of abbreviations are not used: it compares them
// with the ends of words, so that in German "Sie war. Er singt." is one sentence. Thread-safe.
class SentenceSplitter {
 public:
  // `language` is a code such as "en" or "de_CH", or empty if it is not known.
  explicit SentenceSplitter(const std::string& language = "");
  ~SentenceSplitter();
  SentenceSplitter(const SentenceSplitter&) = delete;
  SentenceSplitter& operator=(const SentenceSplitter&) = delete;

  // Returns the sentences of a line of well-formed UTF-8, without the white space between them.
  // They point into `line`. None for a blank line.
  std::vector<std::string_view> split(std::string_view line) const;

 private:
  struct Rules;
  std::unique_ptr<Rules> rules_;
  bool has_ordinals_;  // "3." is the third
};

}  // namespace regard
