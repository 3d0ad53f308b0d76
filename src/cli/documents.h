// Where regard's documents are, for messages that point to one.
#pragma once

#include <filesystem>
#include <string>

namespace regard {

// Returns the folder of attention.md and the other documents: that of the installation which
// `program` belongs to (PREFIX/bin/regard, PREFIX/share/doc/regard/docs), or of the source tree in
// whose build folder it lies; "docs" if there is neither.
std::string documents_folder(const std::filesystem::path& program);

// The same for the running program.
std::string documents_folder();

}  // namespace regard
