// The version of regard, as written into every manifest, and what it was built with.
#pragma once

#include <string>

namespace regard {

const char* version();
// Of the build's configuration, or SOURCE_DATE_EPOCH: 2026-11-22.
const char* release_date();

// Three lines, as --version prints them: regard's version, LibTorch's and whether that was built
// with CUDA, and the instruction sets that the kernels use on this machine. Known without loading
// LibTorch.
std::string version_report();

}  // namespace regard
