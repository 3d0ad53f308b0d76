// The table of output layers: the values of `model.output.kind`.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "config/source_locations.h"
#include "model/output/output_layer.h"

namespace regard {

// The model that an output layer is built for.
struct OutputPlace {
  torch::nn::Module& model;  // where its parameters are registered
  const ModelOptions& options;
  torch::Tensor source_embedding;
  std::int64_t vocabulary;    // V, of the target
  std::int64_t state_size;    // C, of the encoder
  std::int64_t readout_size;  // R, of the decoder
};

std::unique_ptr<OutputLayer> make_output(const OutputPlace& place);

// ConfigError with the place of model.output.kind if the rest of the model does not support it.
void check_output(const ModelOptions& model, const SourceLocations& locations);

}  // namespace regard
