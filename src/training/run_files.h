// The files of a run beside its checkpoints: its options (config.yaml), its versions, data and stop
// reason (manifest.json), and its records (train.jsonl, validations.tsv, validation/, event files).
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/run_folder.h"
#include "training/setup.h"

namespace regard {

// Must be called before a new run is started in the folder. Throws ConfigError if the folder is a
// file or a model (a checkpoint, an averaged model), or if the run would overwrite a file in it
// that was not written by a run of regard.
void check_run_folder(const RunFolder& run);

// Removes the files of earlier runs (for --fresh), and no other files. Throws EnvironmentError.
void remove_run_files(const RunFolder& run);

// Warns if data, versions or the number of threads changed since the last session of the run.
void warn_of_changes(const RunFolder& run, const Setup& setup);

// Writes config.yaml and manifest.json for this session. If the run is resumed, the manifest
// contains the manifests of earlier sessions, and changes are logged as by warn_of_changes().
void record_session(const RunFolder& run, const Setup& setup, const std::string& command_line);

// Writes the `search` options of a finished run to the config.yaml of its last and best
// checkpoints, from which `translate` reads its defaults, and the options of the last one to that
// of the run. A finished run writes no more checkpoints that would contain them.
void record_search_options(const RunFolder& run, const SearchOptions& search);

// Records in the manifest why the run stopped, and at which step.
void record_end(const RunFolder& run, std::int64_t step, const std::string& reason);

}  // namespace regard
