// A model is one folder that can be carried off: the resolved configuration, both tokenizers and
// the weights. What training needs to go on may lie beside them.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <memory>

#include "checkpoint/folder.h"
#include "config/options.h"
#include "config/origins.h"
#include "data/tokenizers.h"
#include "model/seq2seq.h"

namespace regard {

struct TranslationModel {
  Options options;
  Tokenizers tokenizers;
  std::shared_ptr<Seq2Seq> model;
};

// Copies saved weights in. Where names or shapes differ, a CheckpointError says which, found
// against wanted, and leaves the model alone; `where` names the folder.
void load_weights(Seq2Seq& model, const NamedTensors& weights, const std::string& where);

void add_model_options(FolderWriter& folder, const Options& options);
void add_model(FolderWriter& folder, const Options& options, const Tokenizers& tokenizers,
               const NamedTensors& weights);

NamedTensors read_weights(const FolderReader& folder);
// Throws DamagedError with file and line if config.yaml cannot be understood.
Options read_model_options(const FolderReader& folder, Origins* origins = nullptr);
// options.data.tokenizer and options.model, which say what kinds they are.
Tokenizers read_tokenizers(const FolderReader& folder, const Options& options);

// Reads the model in a folder, ready to translate on `device`. Trusts nothing: throws DamagedError
// if the configuration cannot be understood or contradicts itself, CheckpointError if its model is
// much larger than the weights.
TranslationModel load_model(const std::filesystem::path& folder, torch::Device device);

}  // namespace regard
