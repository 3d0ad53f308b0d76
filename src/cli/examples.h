// Examples of each command: its help and its manual page end in them, and a test parses them all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct Example {
  std::string command;  // as one types it
  std::string what;
};

// Of the words after "regard": "train", "config print"; "" for the program itself.
std::vector<Example> examples_of(std::string_view words);

// As help ends: "Examples:", then each command with what it does below.
std::string examples_text(const std::vector<Example>& examples);

}  // namespace regard
