// Writes Options as YAML, for a run folder's config.yaml and for `config print`.
#pragma once

#include <string>
#include <vector>

#include "config/options.h"

namespace regard {

enum class Comments { none, help };

// Returns all keys with their values, in the order of the documentation. Reading the text returns
// exactly the same options. With Comments::help, a comment above each key has its help and range.
std::string write_options(const Options& options, Comments comments = Comments::none);

// Returns a text for each key with different values in `a` and `b`: "training.max_steps: 100 →
// 200". The value of a missing list entry is "(none)".
std::vector<std::string> option_differences(const Options& a, const Options& b);

}  // namespace regard
