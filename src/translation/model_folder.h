// Reads and writes model folders. A model folder contains what translation needs: the resolved
// configuration, both tokenizers and the weights. It can also contain the state to resume training.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/folder.h"
#include "config/options.h"
#include "data/text_codec.h"
#include "model/seq2seq.h"

namespace regard {

struct TranslationModel {
  Options options;
  TextCodec codec;
  std::shared_ptr<Seq2Seq> model;
};

// Copies saved weights into the model. Throws CheckpointError if names or shapes differ, and then
// leaves the model unchanged. The message begins with `where`, the folder.
void load_weights(Seq2Seq& model, const NamedTensors& weights, const std::string& where);

// Adds config.yaml.
void add_model_options(FolderWriter& folder, const Options& options);
// Adds config.yaml, the files of the tokenizers and model.safetensors.
void add_model(FolderWriter& folder, const Options& options, const TextCodec& codec,
               const NamedTensors& weights);

// Returns the weights. Quantized weights (quantized_weights.h) are converted to single precision.
NamedTensors read_weights(const FolderReader& folder);
// Throws CheckpointError if the weights are quantized: training and averages need full precision.
void check_not_quantized(const FolderReader& folder);
// Returns the options in config.yaml and, if `locations` is given, the lines where they are set.
// Throws DamagedError with file and line if config.yaml is not a valid configuration.
Options read_model_options(const FolderReader& folder, SourceLocations* locations = nullptr);
// Reads the codec. Tokenizers of numbers and positions have no file: they follow from
// options.model. Throws CheckpointError.
TextCodec read_codec(const FolderReader& folder, const Options& options);

// Reads the model in a folder, ready to translate on `device`. Does not trust the files: throws
// DamagedError if the configuration is invalid or contradicts itself, and CheckpointError if the
// configured model is much larger than the file of weights.
TranslationModel load_model(const std::filesystem::path& folder, torch::Device device);
// A tag of a direction, and the name of its option in messages.
struct NamedTag {
  std::string option;
  std::optional<std::string> tag;  // empty text: no tag; nullopt: the tag of the model
};
// Returns the codec of the model with these tags. Throws ConfigError unless each is one of
// data.tokenizer.user_symbols.
TextCodec tagged_codec(const TranslationModel& model, const NamedTag& source,
                       const NamedTag& target);
// Throws ConfigError, with the folder, if the model has no decoder: it cannot translate or score.
void require_decoder(const TranslationModel& model, const std::filesystem::path& folder);

}  // namespace regard
