// Examples of each command, for its help and manual page. A test parses all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct Example {
  std::string command;
  std::string description;
};

// Returns the examples of a command, such as "train" or "config print"; "" is the program itself.
std::vector<Example> examples_of(std::string_view words);

// Returns the text at the end of the help: "Examples:" and each command with its description.
std::string examples_text(const std::vector<Example>& examples);

}  // namespace regard
