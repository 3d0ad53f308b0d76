// Lists all options: as keys for shell completions and suggestions, as docs/configuration.md, and
// as configs/schema.json. A test compares the committed files with these; with REGARD_UPDATE=1 in
// its environment it writes them.
#pragma once

#include <string>
#include <vector>

namespace regard {

// A key with a single value, not a section or a list.
struct Setting {
  std::string key;  // "training.optimizer"; for lists only the first entry: "data.train.0.src"
  std::string help;
  std::vector<std::string> values;  // the values of an enum or bool; empty for other types
  std::string expected;             // the allowed values in words
  std::string default_value;        // as in YAML
};

// Returns all settings, in the order of the documentation.
std::vector<Setting> all_settings();

// Returns the full keys of all sections, lists and values, each section before its contents; for
// lists only the first entry: "data.train", "data.train.0.src".
std::vector<std::string> all_keys();

// Returns the documentation of a key, or of all keys of a section, as plain text; of all keys if
// `key` is empty. `key` may also be the end of one or several keys or sections: "heads" is the key
// of encoder and decoder. Throws ConfigError for an unknown key, with a suggestion.
std::string options_text(const std::string& key);

// Returns the text of docs/configuration.md: a table per section with key, allowed values, default
// and help.
std::string options_markdown();

// Returns the text of configs/schema.json, a JSON Schema (draft 2020-12) for editors.
std::string options_schema();

}  // namespace regard
