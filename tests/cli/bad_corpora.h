// Texts that are not what a program expects, and what regard makes of each: the rows of the table
// in docs/data.md. A row is a plain text that something is done to, to its second line or to all of
// it.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace regard {

enum class Fate {
  same,        // read as the plain text
  other_line,  // its second line is another; the others are read as they are
  empty_line,  // its second line counts as empty
  long_line,   // its second line is too long to be a sentence
  refused,     // an error, exit code 3
};

struct BadText {
  std::string title;  // as docs/data.md has it
  std::function<std::string(const std::string& text)> spoil;
  Fate fate = Fate::same;
  std::string message = {};        // in it {} is the file's name
  std::string file_name = "text";  // in a folder of the test's
};

const std::vector<BadText>& bad_texts();

// The title in letters only, every word with a capital: a test's name.
std::string test_name(const BadText& text);

inline void PrintTo(const BadText& text, std::ostream* out) {
  *out << text.title;
}

}  // namespace regard
