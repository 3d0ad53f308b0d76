// What a program says when it cannot go on, and the exit code it leaves with.
#pragma once

#include <exception>

#include "base/error.h"

namespace regard {

// True if memory ran out, of the processor or of a device, and nobody has dealt with it yet.
bool is_out_of_memory(const std::exception& error);

// Logs one sentence, never a stack trace: foreseen errors as they are; memory, threads, descriptors
// or files that the system refuses, with what to do about it; anything else as a fault of regard.
ExitCode report_failure(const std::exception& error);

// Makes an exception that nobody can catch, thrown by a thread or while another one passes, end the
// program with a sentence and the exit code of report_failure() too.
void report_uncaught_exceptions();

}  // namespace regard
