// Questions to a person at a terminal, each with an answer that Return takes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace regard {

// True if there is somebody to ask: standard input and standard error are terminals.
bool can_ask();

// Asks "question [proposed]: ", and again as long as accept(answer) throws an Error, whose message
// is shown. Returns the answer; the proposed one if nothing is typed. EnvironmentError at the end
// of the input.
using Accept = std::function<void(const std::string&)>;
std::string ask(const std::string& question, const std::string& proposed, const Accept& accept);

// The same for a whole number from 0 to `most`.
std::int64_t ask_number(const std::string& question, std::int64_t proposed, std::int64_t most);

}  // namespace regard
