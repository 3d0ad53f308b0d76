// Generates docs/configuration.md and configs/schema.json. A test compares the committed files with
// these; with REGARD_UPDATE=1 in its environment it writes them.
#pragma once

#include <string>

namespace regard {

// Returns docs/configuration.md: a table per section with key, allowed values, default and help.
std::string options_markdown();

// Returns configs/schema.json, a JSON Schema (draft 2020-12) for editors.
std::string options_schema();

}  // namespace regard
