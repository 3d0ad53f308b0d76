// Tables and notes about the data and the model at the beginning of a training.
#pragma once

#include <string>

#include "config/options.h"
#include "data/corpus.h"
#include "model/seq2seq.h"

namespace regard {

// Returns a table of the model's modules with their shapes and parameter counts.
std::string parameter_table(const Seq2Seq& model);

// Returns a table of the corpora: pairs, discarded pairs by reason, tokens, lengths, unknown
// tokens. `dev` may be null.
std::string data_table(const Corpus& train, const Corpus* dev);

// Logs which parameters are frozen or have a learning rate of their own. Throws as
// learning_rate_factors() does.
void report_rates(const Seq2Seq& model, const TrainingOptions& options);

// Logs a width that has no effect, and matrices that the model has only because widths differ.
void report_widths(const ModelOptions& given, const ModelOptions& resolved);

}  // namespace regard
