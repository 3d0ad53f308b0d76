// What is said before the first step: the model's parts, the data, where the run stands.
#pragma once

#include <string>

#include "base/json.h"
#include "config/options.h"
#include "data/corpus.h"
#include "model/seq2seq.h"

namespace regard {

// A table of the model's parts with their shapes and parameter counts.
std::string parameter_table(const Seq2Seq& model);

// A table of the corpora: pairs, what was left out and why, tokens, lengths, unknown tokens.
std::string data_table(const Corpus& train, const Corpus* dev);

// manifest.json of the run: versions, command line, data with hashes and line counts, seed.
Json run_manifest(const Options& options, const std::string& command_line, std::size_t threads);
// A sentence for each data file that has another hash than in an earlier manifest.
std::vector<std::string> changed_data(const Json& before, const Json& now);
// Keeps an earlier manifest, and those it keeps, as "earlier_sittings".
void add_earlier_sittings(Json& manifest, const Json& before);

}  // namespace regard
