// From options to a model. The one place that knows the concrete models by name.
#pragma once

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "model/seq2seq.h"

namespace regard {

// Fresh weights, drawn from Torch's generator; sizes of the vocabularies with the special tokens.
std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options);

}  // namespace regard
