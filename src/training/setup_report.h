// Tables, notes and warnings about the model, the data and the options of a training, before its
// first step.
#pragma once

#include <string>

#include "checkpoint/folder.h"
#include "config/options.h"
#include "data/corpus.h"
#include "model/seq2seq.h"

namespace regard {

// Returns a table of the model's modules with their shapes and parameter counts.
std::string parameter_table(const Seq2Seq& model);

// Returns a table of the corpora: pairs, discarded pairs by reason, tokens, lengths, unknown
// tokens. `dev` may be null.
std::string data_table(const Corpus& train, const Corpus* dev);

// Warns if most tokens of one side of the training text are unknown.
void warn_of_unknown_tokens(const Corpus& train);

// Logs which parameters are frozen or have a learning rate of their own. Throws as
// learning_rate_factors() does.
void report_rates(const Seq2Seq& model, const TrainingOptions& options);

// Logs a width that has no effect, and matrices that the model has only because widths differ.
void report_widths(const ModelOptions& given, const ModelOptions& resolved);

// Warns of a validation pair whose scores would mislead: of text without spaces, whose words BLEU
// does not find; of targets that are longer than outputs may be; of tags that all corpora have and
// the validation pair lacks; and of exchanged sides. `dev` may be null.
void warn_of_validation_data(const Options& options, const Corpus* dev);

// Compares the options of a run that resumes with `before`, those of its checkpoint. Throws
// CheckpointError if an option differs on which the tensors of the checkpoint depend. Warns of
// other differences, and of what they do to the run.
void compare_with_checkpoint(const FolderReader& checkpoint, const Options& before,
                             Options options);

}  // namespace regard
