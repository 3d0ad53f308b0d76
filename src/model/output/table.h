// The table of output layers: the values of `model.output.kind`.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "config/options.h"
#include "model/output/output_layer.h"

namespace regard {

// The model that an output layer is built for.
struct OutputLayerConfig {
  torch::nn::Module& model;  // where its parameters are registered
  const ModelOptions& options;
  torch::Tensor source_embedding;
  std::int64_t vocabulary;    // V, of the target
  std::int64_t state_size;    // C, of the encoder
  std::int64_t readout_size;  // R, of the decoder
};

std::unique_ptr<OutputLayer> make_output_layer(const OutputLayerConfig& config);

// ConfigError with the config of model.output.kind if the rest of the model does not support it.
void check_output_layer(const ModelOptions& model, const SourceLocations& locations);

}  // namespace regard
