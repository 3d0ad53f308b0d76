// Lines of an n-best list in the format of Moses:
//
//     3 ||| the cat sees ||| logprob= -2.1 other= 0.5 ||| -0.7
//
// the number of the sentence, from 0, a translation, named features, and the score that ranks it;
// what Moses may put behind that (alignments) is kept as it stands. A translation's own ||| is
// written &#124;&#124;&#124;, as Moses escapes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct NBestEntry {
  std::size_t sentence = 0;
  std::string text;
  std::string features;           // as they stand; may be empty
  std::string score;              // a number; empty where the line ends before it
  std::vector<std::string> more;  // fields behind the score
};

// Whether a feature of this name is there.
bool has_feature(const NBestEntry& entry, std::string_view name);

// InputError with `file`:`line` for anything else. A line may end after its text or its features.
NBestEntry parse_n_best(std::string_view text, const std::string& file, std::int64_t line);

std::string to_n_best(const NBestEntry& entry);

}  // namespace regard
