// Start and end of a program: standard streams, signals, exceptions to exit codes; memory used.
#pragma once

#include <cstdint>
#include <exception>

#include "base/error.h"

namespace regard {

// Prepares a program; main() calls it first.
//
// - If a standard descriptor is closed, opens /dev/null in its place: write-only for standard
//   input, read-only for the other two, so that using it still fails. Otherwise the next opened
//   file would take its number and receive translations and warnings.
// - Makes write() fail if a file reaches the size limit (ulimit -f); by default a signal would end
//   the process.
// - Calls report_uncaught_exceptions().
void prepare_process();

// Makes the allocator keep freed blocks below 32 MB for the next allocation, instead of returning
// them to the system, which would map and clear their pages again. A training step frees as much
// memory as it allocates. Does nothing with other C libraries than glibc.
void keep_freed_memory();

// Logs an error without its stack trace, and returns the exit code. Logs classes of base/error.h
// and filesystem_error unchanged; adds advice if the system refused memory or threads. Logs any
// other exception as a bug in regard.
ExitCode report_failure(const std::exception& error);

// Makes uncaught exceptions (thrown by a thread, or during unwinding) end the program with the
// message and exit code of report_failure().
void report_uncaught_exceptions();

// True if the error means that memory ran out, on the host or on a device.
bool is_out_of_memory(const std::exception& error);

// Returns the peak resident memory of this process in bytes, or 0 if unknown.
std::uint64_t peak_memory();

}  // namespace regard
