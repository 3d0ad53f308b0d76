// Options to YAML: the resolved copy in a run's folder, and what `config print` shows.
#pragma once

#include <string>
#include <vector>

#include "config/options.h"

namespace regard {

enum class Comments { none, help };

// Every key with its value, in the order of the documentation. Read again it gives the same
// options, bit for bit. With Comments::help, each key's help and range stand above it.
std::string write_options(const Options& options, Comments comments = Comments::none);

// What changed from `a` to `b`, one key each: "training.max_steps: 100 → 200". An entry that a
// list has in only one of the two is "(none)" in the other.
std::vector<std::string> differing_keys(const Options& a, const Options& b);

}  // namespace regard
