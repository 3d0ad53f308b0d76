// Options of a small model.
#pragma once

#include <cstdint>

#include "config/model_options.h"

namespace regard {

// Returns the options of a model without dropout whose embeddings, states, readout and attention
// are `width` wide.
inline ModelOptions small_model_options(std::int64_t width) {
  ModelOptions options;
  options.encoder.embedding_dim = options.decoder.embedding_dim = width;
  options.encoder.hidden_size = options.decoder.hidden_size = width;
  options.decoder.readout_size = options.attention.size = width;
  options.dropout = {0, 0, 0};
  return options;
}

}  // namespace regard
