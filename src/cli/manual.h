// Writes manual pages in the man(7) format.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/outline.h"

namespace regard {

// Returns the page of the program, or of a command with its subcommands.
std::string manual_page(const CommandOutline& program, const CommandOutline& command);

// Returns all pages with their file names: regard.1, regard-train.1, …
std::vector<std::pair<std::string, std::string>> manual_pages(const CommandOutline& program);

}  // namespace regard
