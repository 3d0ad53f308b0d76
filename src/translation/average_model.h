// Averages the weights of checkpoints of one run (Junczys-Dowmunt, Dwojak, Sennrich 2016), or of
// runs with the same initial weights. The average often translates better than each checkpoint.
#pragma once

#include <filesystem>
#include <vector>

#include "config/options.h"
#include "data/tokenizers.h"
#include "translation/model_folder.h"

namespace regard {

struct AverageModel {
  Options options;  // of the first model
  Tokenizers tokenizers;
  NamedTensors weights;
};

// Averages the models in one or more folders. Throws ConfigError if a folder differs from the first
// in a key of `model` or `data.tokenizer` or in the vocabularies, and CheckpointError if names or
// shapes of weights differ.
AverageModel average_models(const std::vector<std::filesystem::path>& folders);

}  // namespace regard
