// Lists the keys of a configuration, for shell completions and suggestions.
#pragma once

#include <string>
#include <vector>

namespace regard {

// A key that `key=value` can set.
struct Setting {
  std::string key;  // "training.optimizer"; the first entry of a list: "data.train.0.src"
  std::string help;
  std::vector<std::string> values;  // the values of an enum or bool; empty for other types
};

// Returns all settings, in the order of the documentation.
std::vector<Setting> all_settings();

// Returns all full keys, sections before their contents; entries of lists as data.train.0.src.
std::vector<std::string> all_keys();

}  // namespace regard
