// Lines of an n-best list in the format of Moses:
//
//     3 ||| the cat sees ||| logprob= -2.1 other= 0.5 ||| -0.7
//
// The fields are the number of the sentence (from 0), a translation, named features, and the score
// that ranks it. Fields after the score, such as Moses's alignments, are kept unchanged. A ||| in
// the translation itself is written &#124;&#124;&#124;, as Moses escapes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct NBestEntry {
  std::size_t sentence = 0;
  std::string text;                       // the translation, with ||| unescaped
  std::string features;                   // unparsed; may be empty
  std::string score;                      // a number; empty if the line has no score
  std::vector<std::string> extra_fields;  // after the score
};

// A named feature. Its numbers may be infinite.
struct NBestFeature {
  std::string name;
  std::vector<double> numbers;
};

// Returns the features of an entry, in order. Numbers of a repeated name are together; numbers
// without a name are left out.
std::vector<NBestFeature> parse_features(const NBestEntry& entry);
// True if the entry has a feature of this name.
bool has_feature(const NBestEntry& entry, std::string_view name);
// Returns the number of the feature of this name; nullopt if there is none, or if the feature does
// not have exactly one number.
std::optional<double> feature_value(const NBestEntry& entry, std::string_view name);

// Writes a feature after the others, with 6 decimals. The entry must not have it yet.
void add_feature(NBestEntry& entry, std::string_view name, double value);

// Parses a line, which may end after the translation or the features. Throws InputError with
// `file`:`line_number` if the line is not in this format.
NBestEntry parse_n_best(std::string_view line, const std::string& file, std::int64_t line_number);

// Returns the line of an entry, without a line feed.
std::string format_n_best(const NBestEntry& entry);

}  // namespace regard
