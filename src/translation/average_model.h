// Averages the weights of several models, which often translates better than any of them:
// checkpoints of one run (Junczys-Dowmunt, Dwojak, Sennrich 2016), or of runs with the same initial
// weights.
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

// Needs at least one model folder. Throws if a folder differs from the first: ConfigError for a key
// of `model` or `data.tokenizer` or the vocabularies, CheckpointError for names and shapes of
// weights.
AverageModel average_models(const std::vector<std::filesystem::path>& folders);

}  // namespace regard
