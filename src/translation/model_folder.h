// A model folder has all that translation needs: the resolved configuration, both tokenizers and
// the weights. It may also have the state to resume training.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <memory>

#include "checkpoint/folder.h"
#include "config/options.h"
#include "data/tokenizers.h"
#include "model/seq2seq.h"

namespace regard {

struct TranslationModel {
  Options options;
  Tokenizers tokenizers;
  std::shared_ptr<Seq2Seq> model;
};

// Copies saved weights into the model. Throws CheckpointError, with found and expected, if names or
// shapes differ, and leaves the model unchanged. `where` names the folder.
void load_weights(Seq2Seq& model, const NamedTensors& weights, const std::string& where);

void add_model_options(FolderWriter& folder, const Options& options);
void add_model(FolderWriter& folder, const Options& options, const Tokenizers& tokenizers,
               const NamedTensors& weights);

NamedTensors read_weights(const FolderReader& folder);
// Throws DamagedError with file and line if config.yaml cannot be understood.
Options read_model_options(const FolderReader& folder, SourceLocations* locations = nullptr);
// The kinds are in options.data.tokenizer and options.model.
Tokenizers read_tokenizers(const FolderReader& folder, const Options& options);

// Reads the model in a folder, ready to translate on `device`. Does not trust the files: throws
// DamagedError if the configuration cannot be understood or contradicts itself, CheckpointError if
// its model is much larger than the weights.
TranslationModel load_model(const std::filesystem::path& folder, torch::Device device);

}  // namespace regard
