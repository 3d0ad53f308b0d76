// The version of regard, as written to manifests, the libraries and processor it runs with, and the
// folder of its documentation.
#pragma once

#include <filesystem>
#include <string>

namespace regard {

// Returns the version number, such as "1.2.3".
const char* version();
// Returns the date on which the build was configured, or the date of SOURCE_DATE_EPOCH if that was
// set: "2026-11-22".
const char* release_date();

// Returns the text of --version, three lines: the version of regard; the version of LibTorch and
// whether it was built with CUDA; the instruction set of the kernels on this machine. Does not load
// LibTorch.
std::string version_report();

// Returns the folder of the documentation: PREFIX/share/doc/regard/docs for an installed `program`
// PREFIX/bin/regard, SOURCE/docs for a `program` SOURCE/build/regard. Returns "docs" if neither
// folder contains attention.md.
std::string docs_folder(const std::filesystem::path& program);

// Returns the folder of the documentation for the running program.
std::string docs_folder();

}  // namespace regard
