// The files of a run beside its checkpoints: what it trains (config.yaml), with what, on what and
// why it stopped (manifest.json), and how it went (train.jsonl, validations.tsv, validation/,
// event files).
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/run_folder.h"
#include "training/setup.h"

namespace regard {

// ConfigError where the folder has a configuration or a manifest that no run of regard has written:
// it is somebody's own.
void check_is_for_runs(const RunFolder& run);

// Removes what a run has written, and nothing else.
void start_over(const RunFolder& run);

// Warns of what is no longer as it was when the run was last at work, options apart: data,
// versions, threads.
void warn_of_changes(const RunFolder& run, const Setup& setup);

// config.yaml and manifest.json say what the run does from now on; the manifest remembers earlier
// sittings. Warns as warn_of_changes().
void record_sitting(const RunFolder& run, const Setup& setup, const std::string& command_line);

// Why the run stopped, and at which step.
void record_end(const RunFolder& run, std::int64_t step, const std::string& reason);

}  // namespace regard
