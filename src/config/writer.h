// Writes Options as YAML, for a run folder's config.yaml and for `config print`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"

namespace regard {

enum class Comments { none, help };

// Returns the keys with their values, in the order of the documentation. Leaves out keys that have
// their default and that this configuration does not read (config/parts.h). Reading the text
// returns the same options. With Comments::help, a comment above each key has its help and range.
std::string write_options(const Options& options, Comments comments = Comments::none);

// Returns the value of the key "training.max_steps" as YAML; nullopt for a missing list entry.
std::optional<std::string> option_value(const Options& options, const std::string& key);

// A key with two values, as YAML. The value of a missing list entry is "(none)".
struct Difference {
  std::string key;  // "training.max_steps"
  std::string before;
  std::string after;

  std::string text() const;  // "training.max_steps: 100 → 200"
  // True if the key is `other`, or a key of the section or list `other`.
  bool is_at(std::string_view other) const;
};

// Returns the keys that have different values in `a` and `b`.
std::vector<Difference> option_differences(const Options& a, const Options& b);

// Returns a line for each difference: "\n  training.max_steps: 100 → 200".
std::string differences_text(const std::vector<Difference>& differences);

}  // namespace regard
