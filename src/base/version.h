// The version of regard and of its build, as written to manifests.
#pragma once

#include <string>

namespace regard {

const char* version();
// The date of the build's configuration, or SOURCE_DATE_EPOCH, as 2026-11-22.
const char* release_date();

// Returns the text of --version, three lines: the version of regard; the version of LibTorch and
// whether it was built with CUDA; the instruction set of the kernels on this machine. Does not load
// LibTorch.
std::string version_report();

}  // namespace regard
