// Measures a parallel corpus. config/starter_config.h writes a first configuration from the result.
#pragma once

#include <string>

#include "config/starter_config.h"

namespace regard {

// Reads both files, plain or gzip, once. Throws InputError if a file cannot be read or has no text,
// or if the line counts differ.
CorpusStatistics read_corpus_statistics(const std::string& src, const std::string& trg);

// Returns the language of a file from its extension, ignoring .gz: "en" for train.en.gz. Returns ""
// if there is no extension.
std::string language_from_path(const std::string& path);

}  // namespace regard
