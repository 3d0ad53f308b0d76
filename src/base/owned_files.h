// Protects the files of training runs and model folders from being overwritten by a command's
// output.
#pragma once

#include <filesystem>

namespace regard {

// True if the folder is a training run: it has a manifest.json of regard, or .lock and train.log of
// a run that has just started.
bool is_run_folder(const std::filesystem::path& folder);

// Throws ConfigError if a command must not write to `output`: its folder is a training run or a
// model folder, and its name is one that regard uses there, even if no such file exists yet. Also
// rejects all paths below such an entry of a run, such as checkpoints/x. Other names in these
// folders are allowed. Follows links.
void check_output_path(const std::filesystem::path& output);

}  // namespace regard
