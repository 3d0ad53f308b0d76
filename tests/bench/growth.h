// How step and floor grow with batch, sentence length, vocabulary and hidden size, one at a time.
#pragma once

#include "base/json.h"
#include "base/thread_pool.h"

namespace regard {

// Prints a table for each, and returns their rows; `quick` takes two values of each only.
Json growth(int repeats, bool quick, ThreadPool& workers);

}  // namespace regard
