// What this process gets from the system: its standard streams, its signals, its processors.
#pragma once

#include <cstdint>
#include <filesystem>

namespace regard {

// Prepares a program; main() calls it first.
//
// - A standard descriptor that was closed when the program started is opened on /dev/null in the
//   direction in which it is not used. Otherwise the next file opened would take its number, and
//   translations and warnings would go there. Reading or writing it still fails.
// - A file that reaches its size limit (ulimit -f) is an error of write(), not a signal.
// - An exception that nobody can catch ends the program with a sentence and an exit code.
void prepare_process();

// Returns how many processors this process may keep busy, at least 1: those it may run on
// (taskset), and no more than the quotas of its control groups and their parents allow, versions 1
// and 2, rounded up. `groups` is where control groups are mounted, `membership` lists those of this
// process.
std::int64_t usable_processors(const std::filesystem::path& groups = "/sys/fs/cgroup",
                               const std::filesystem::path& membership = "/proc/self/cgroup");

}  // namespace regard
