// Creates the output layer for `model.output.kind`.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "config/options.h"
#include "model/output/output_layer.h"

namespace regard {

// The arguments of an output layer's constructor.
struct OutputLayerConfig {
  torch::nn::Module& model;  // the module in which the output layer registers its parameters
  const ModelOptions& options;
  torch::Tensor source_embedding;  // also the target embedding if all embeddings are tied
  std::int64_t vocabulary;         // size V of the target vocabulary
  std::int64_t state_size;         // C of the encoder
  std::int64_t readout_size;       // R of the decoder
};

// Creates the output layer of model.output.kind.
std::unique_ptr<OutputLayer> make_output_layer(const OutputLayerConfig& config);

// Throws ConfigError, with the location of model.output.kind, if the output layer copies source
// words but the weights of the attention do not sum to 1.
void check_output_layer(const ModelOptions& model, const SourceLocations& locations);

}  // namespace regard
