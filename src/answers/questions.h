// Questions to a person at a terminal, each with an answer that Return takes.
#pragma once

#include <string>

namespace regard {

// Whether there is somebody to ask: standard input and standard error are terminals.
bool can_ask();

// "question [proposed]: "; the proposed answer where nothing is typed. EnvironmentError at the end
// of the input.
std::string ask(const std::string& question, const std::string& proposed = "");
std::int64_t ask_number(const std::string& question, std::int64_t proposed);

}  // namespace regard
