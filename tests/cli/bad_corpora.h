// Unusual texts and how regard treats them: the rows of the table in docs/data.md. Each row changes
// the second line or the whole of a plain text.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace regard {

enum class Fate {
  same,        // read as the plain text
  other_line,  // the second line differs; the others are the same
  empty_line,  // the second line counts as empty
  long_line,   // the second line is too long for a sentence
  refused,     // an error, exit code 3
};

struct BadText {
  std::string title;  // in docs/data.md
  std::function<std::string(const std::string& text)> spoil;
  Fate fate = Fate::same;
  std::string message = {};        // {} is the file name
  std::string file_name = "text";  // in the folder of the test
};

const std::vector<BadText>& bad_texts();

// Returns the title as the name of a test: only letters, each word with a capital.
std::string test_name(const BadText& text);

inline void PrintTo(const BadText& text, std::ostream* out) {
  *out << text.title;
}

}  // namespace regard
