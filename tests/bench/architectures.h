// A training step of every architecture and every attention kind, beside its own floor; decoding by
// source length.
#pragma once

#include <string>

#include "base/json.h"
#include "base/thread_pool.h"

namespace regard {

// Prints a table for each precision that this machine has, and returns their rows. With `only`,
// measures only the architectures whose name contains it.
Json architectures(int repeats, const std::string& only, ThreadPool& workers);

// Prints the time of a decoding step and the memory of a search for each attention kind, for models
// without attention in each step, and for Transformers, by source length. Returns the rows of both
// tables. `only` as above.
Json decoding_steps(int repeats, const std::string& only);

}  // namespace regard
