// Builds a model from options.
#pragma once

#include <cstdint>
#include <memory>

#include "config/options.h"
#include "model/seq2seq.h"

namespace regard {

// Throws ConfigError, with the location of the option in the configuration file, if the attention
// or the output layer cannot be combined with the rest of the model.
void check_model(const ModelOptions& options, const SourceLocations& locations);
// Like check_model(). Also checks that attention has enough positions for sentences of
// data.max_length tokens, and that its window is shorter.
void check_model_to_train(const Options& options, const SourceLocations& locations);

// Builds a model. Draws the weights from Torch's generator. Vocabulary sizes include the special
// tokens.
std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options);

}  // namespace regard
