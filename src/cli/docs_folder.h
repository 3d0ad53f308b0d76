// Finds the folder of the documentation, for messages that refer to it.
#pragma once

#include <filesystem>
#include <string>

namespace regard {

// Returns the folder that contains attention.md: PREFIX/share/doc/regard/docs if `program` is
// PREFIX/bin/regard, or docs/ of the source tree if it is in its build folder. Otherwise "docs".
std::string docs_folder(const std::filesystem::path& program);

// Returns the folder for the running program.
std::string docs_folder();

}  // namespace regard
