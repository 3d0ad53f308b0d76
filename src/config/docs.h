// The two generated pages, docs/configuration.md and configs/schema.json. A test holds the
// committed files equal to these; REGARD_UPDATE=1 in its environment makes it write them.
#pragma once

#include <string>

namespace regard {

// One table a section: key, what it may be, default, help.
std::string options_markdown();

// JSON Schema, draft 2020-12: editors complete keys and mark mistakes by it.
std::string options_schema();

}  // namespace regard
