// A quick look at a pair of text files, for a configuration that fits them (config/suggestion.h).
#pragma once

#include <string>

#include "config/suggestion.h"

namespace regard {

// Reads both files, plain or .gz, once. InputError where one cannot be read, has no text, or their
// line counts differ.
CorpusFacts look_at(const std::string& src, const std::string& trg);

// The ending of a file's name that tells its language: "en" of train.en.gz. Empty without one.
std::string language_of(const std::string& path);

}  // namespace regard
