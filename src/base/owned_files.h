// Protects the files of training runs and model folders from being overwritten by a command's
// output.
#pragma once

#include <filesystem>

namespace regard {

// True if the folder is a training run: it has a manifest.json of regard, or .lock and train.log of
// a run that has just started.
bool is_run_folder(const std::filesystem::path& folder);

// Throws ConfigError if `output` is the path of a file of a training run or model folder, even if
// it does not exist yet, or lies below a run's checkpoints. Follows links. Other names in these
// folders are allowed.
void check_output_path(const std::filesystem::path& output);

}  // namespace regard
