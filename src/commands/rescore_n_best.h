// regard score --n-best: an n-best list with the log-probabilities as one more feature.
#pragma once

#include "base/error.h"
#include "cli/score_arguments.h"

namespace regard {

// InputError with file:line for a malformed entry, a sentence that the source does not have, and a
// feature that is there already.
ExitCode rescore_n_best(const ScoreArguments& arguments);

}  // namespace regard
