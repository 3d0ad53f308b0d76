// Averages the weights of checkpoints of one run (Junczys-Dowmunt, Dwojak, Sennrich 2016), or of
// runs with the same initial weights. The average often translates better than each checkpoint.
#pragma once

#include <filesystem>
#include <vector>

#include "config/options.h"
#include "data/text_codec.h"
#include "translation/model_folder.h"

namespace regard {

struct AverageModel {
  Options options;       // of the first model
  TextCodec codec;       // the same for all models
  NamedTensors weights;  // means, in the element types of the first model
};

// Averages the models in one or more folders. Throws ConfigError if a folder differs from the first
// in a key of `model` or `data.tokenizer` (except dropout and sampling) or in the vocabularies.
// Throws CheckpointError if names or shapes of weights differ, or if weights are quantized.
AverageModel average_models(const std::vector<std::filesystem::path>& folders);

}  // namespace regard
