// Builds a model from options.
#pragma once

#include <cstdint>
#include <memory>

#include "config/options.h"
#include "config/source_locations.h"
#include "model/seq2seq.h"

namespace regard {

// ConfigError with the place of the option if no model can be built: checks what the attention and
// the output layer require of the rest of the model.
void check_model(const ModelOptions& options, const SourceLocations& locations);
// Also checks data.max_length against the model.
void check_model_to_train(const Options& options, const SourceLocations& locations);

// The weights are drawn from Torch's generator. Vocabulary sizes include the special tokens.
std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options);

}  // namespace regard
