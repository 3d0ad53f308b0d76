// What no single key can tell: options that contradict one another.
#pragma once

#include "config/options.h"
#include "config/origins.h"

namespace regard {

// What holds of every configuration, also of one that only translates: a model that can be built, a
// tokenizer that can work. Throws ConfigError with all contradictions, one a line, each with both
// keys, both values, and the place that `origins` knows of the key to blame.
void check_options(const Options& options, const Origins& origins = {});

// The above, and what training needs: corpora, a validation pair where something waits for one, a
// rate that moves, an end.
void check_training_options(const Options& options, const Origins& origins = {});

// The search's options alone, for those that the command line has changed.
void check_testing_options(const TestingOptions& options);

}  // namespace regard
