// Measures a parallel corpus. config/starter_config.h writes a first configuration from the result.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "config/starter_choices.h"

namespace regard {

// Reads both texts once. Throws InputError if a file cannot be read or has no text,
// or if the line counts differ.
CorpusStatistics read_corpus_statistics(const std::string& src, const std::string& trg);

// The paths of source and target text.
using TextPair = std::pair<std::string, std::string>;
// True if source and target of `dev` are exchanged: their words occur more often on the other sides
// of `train`. Reads the first 1,000 lines of each file. Throws InputError if a file cannot be read.
bool sides_are_exchanged(const TextPair& train, const TextPair& dev);

// Returns the first `count` lines of a text, or all. Throws InputError if it cannot be read.
std::vector<std::string> first_lines(const std::string& path, std::size_t count);

// Learns the tokenizer that `options` describe from the first 20,000 pairs, and measures their
// lengths in its tokens: mean_tokens, repeated_tokens, the numbers of pairs from measured_pairs on,
// and outputs.
// Measures dev_outputs if a validation pair is given. If the text is too small for the tokenizer,
// warns and counts characters. Throws InputError if a file cannot be read.
void measure_tokens(const TokenizerOptions& options, CorpusStatistics& statistics,
                    const TextPair& dev = {});

// Returns the language of a text from its extension without that of a compression, "en" for
// train.en.gz, or from the name of its column, "en" for train.tsv#English. Returns "" if there is
// none.
std::string language_from_path(const std::string& path);

}  // namespace regard
