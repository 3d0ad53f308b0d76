// What a program says when it cannot go on, and the exit code it leaves with.
#pragma once

#include <exception>

#include "base/error.h"

namespace regard {

// Logs one sentence, never a stack trace: foreseen errors as they are, memory that ran out with
// what to do about it, anything else as a fault of regard.
ExitCode report_failure(const std::exception& error);

}  // namespace regard
