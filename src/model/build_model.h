// From options to a model. The one place that knows the concrete models by name.
#pragma once

#include <cstdint>
#include <memory>

#include "config/options.h"
#include "config/origins.h"
#include "model/seq2seq.h"

namespace regard {

// ConfigError, with the place where it was set, where no model can be built of these options: what
// the kinds of attention and output ask of the rest.
void check_model(const ModelOptions& options, const Origins& origins);
// Likewise, where none can be trained: it does not fit data.max_length either.
void check_model_to_train(const Options& options, const Origins& origins);

// Fresh weights, drawn from Torch's generator; sizes of the vocabularies with the special tokens.
std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options);

}  // namespace regard
