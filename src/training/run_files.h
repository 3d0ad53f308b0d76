// The files of a run beside its checkpoints: its options (config.yaml), versions, data and end
// (manifest.json), and its records (train.jsonl, validations.tsv, validation/, event files).
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/run_folder.h"
#include "training/setup.h"

namespace regard {

// Throws ConfigError if the folder is a model (a checkpoint, an averaged model), or if it holds a
// file that a run would write over and that no run of regard has written.
void check_is_for_runs(const RunFolder& run);

// Removes the files that a run has written, and nothing else.
void start_over(const RunFolder& run);

// Warns of data, versions and threads that changed since the last session of the run.
void warn_of_changes(const RunFolder& run, const Setup& setup);

// Writes config.yaml and manifest.json for this session; the manifest keeps those of earlier
// sessions. Warns as warn_of_changes().
void record_session(const RunFolder& run, const Setup& setup, const std::string& command_line);

// Writes the `testing` options of a finished run, which makes no more checkpoints, into its
// config.yaml and into those of its last and best checkpoints. `translate` takes its defaults
// there.
void record_testing_options(const RunFolder& run, const TestingOptions& testing);

// Records why the run stopped, and at which step.
void record_end(const RunFolder& run, std::int64_t step, const std::string& reason);

}  // namespace regard
