// What is said before the first step: the model's parts, the data.
#pragma once

#include <string>

#include "data/corpus.h"
#include "model/seq2seq.h"

namespace regard {

// A table of the model's parts with their shapes and parameter counts.
std::string parameter_table(const Seq2Seq& model);

// A table of the corpora: pairs, what was left out and why, tokens, lengths, unknown tokens.
std::string data_table(const Corpus& train, const Corpus* dev);

}  // namespace regard
