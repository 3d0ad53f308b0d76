// Compares the options of a run that resumes with those of its checkpoint.
#pragma once

#include "checkpoint/folder.h"
#include "config/options.h"

namespace regard {

// Throws CheckpointError if an option differs on which the tensors of the checkpoint depend. Warns
// of other differences, and of what they do to the run. `before` are the options of the checkpoint.
void compare_with_checkpoint(const FolderReader& checkpoint, const Options& before,
                             Options options);

}  // namespace regard
