// Files that regard keeps for later, which no command's output may take the place of.
#pragma once

#include <filesystem>

namespace regard {

// True if the folder is that of a training run: its manifest.json is regard's, or a trainer has
// begun there (.lock and train.log).
bool is_run(const std::filesystem::path& folder);

// Throws ConfigError if `output` names a file that belongs to a training run or to a model folder,
// whether it exists or not, or anything below a run's checkpoints. Links are followed. Other names
// in these folders are free.
void refuse_owned_file(const std::filesystem::path& output);

}  // namespace regard
