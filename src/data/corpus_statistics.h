// Statistics of a parallel corpus, from which a configuration is suggested
// (config/starter_config.h).
#pragma once

#include <string>

#include "config/starter_config.h"

namespace regard {

// Reads both files, plain or gzip, once. Throws InputError if a file cannot be read or has no text,
// or if the line counts differ.
CorpusStatistics read_corpus_statistics(const std::string& src, const std::string& trg);

// Returns the extension of a file name, without .gz, which names its language: "en" for
// train.en.gz. Empty if there is none.
std::string language_from_path(const std::string& path);

}  // namespace regard
