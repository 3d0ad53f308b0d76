// Manual pages in the language of man(7), of the same outline that completions are made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/outline.h"

namespace regard {

// The page of the program, or of one of its commands with all that is below.
std::string manual_page(const CommandOutline& program, const CommandOutline& command);

// All pages under their files' names: regard.1, regard-train.1, …
std::vector<std::pair<std::string, std::string>> manual_pages(const CommandOutline& program);

}  // namespace regard
