// Checks of a whole configuration: options that contradict each other.
#pragma once

#include "config/options.h"
#include "config/source_locations.h"

namespace regard {

// Checks everything that translation needs too: the model, the tokenizer and the search. Throws
// ConfigError with all errors, one per line, each with its keys, their values and the source
// location of the first key.
void check_options(const Options& options, const SourceLocations& locations = {});

// As check_options(), and also checks what training needs: corpora, a validation pair if an option
// depends on it, the learning rate and a stopping criterion.
void check_training_options(const Options& options, const SourceLocations& locations = {});

// Checks only the search options, after changes by the command line.
void check_testing_options(const TestingOptions& options);

}  // namespace regard
