// The mean of several models' weights, which often translates better than any of them: checkpoints
// of one run (Junczys-Dowmunt, Dwojak, Sennrich 2016), or of several that began alike.
#pragma once

#include <filesystem>
#include <vector>

#include "config/options.h"
#include "data/tokenizers.h"
#include "translation/model_folder.h"

namespace regard {

struct AverageModel {
  Options options;  // the first model's
  Tokenizers tokenizers;
  NamedTensors weights;
};

// Of at least one model folder. CheckpointError names the first that differs from the first folder
// in a key of `model` or of `data.tokenizer`, in its vocabularies, or in its weights' names and
// shapes.
AverageModel average_models(const std::vector<std::filesystem::path>& folders);

}  // namespace regard
