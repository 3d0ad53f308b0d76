// The table of outputs: what `model.output.kind` may say.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "config/origins.h"
#include "model/output/output.h"

namespace regard {

// What an output is built into and on.
struct OutputPlace {
  torch::nn::Module& model;  // where its parameters are registered
  const ModelOptions& options;
  torch::Tensor source_embedding;
  std::int64_t vocabulary;    // V, of the target
  std::int64_t state_size;    // C, of the encoder
  std::int64_t readout_size;  // R, of the decoder
};

std::unique_ptr<Output> make_output(const OutputPlace& place);

// Before anything is trained: ConfigError with the place where it was set where the output needs
// what the rest of the model is not.
void check_output(const ModelOptions& model, const Origins& origins);

}  // namespace regard
