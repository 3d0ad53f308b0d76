// A training step of every architecture and every attention kind, beside its own floor.
#pragma once

#include <string>

#include "base/json.h"
#include "base/thread_pool.h"

namespace regard {

// Prints a table for each precision that this machine has, and returns their rows. With `only`,
// measures only the architectures whose name contains it.
Json architectures(int repeats, const std::string& only, ThreadPool& workers);

}  // namespace regard
