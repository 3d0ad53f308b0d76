// What a model is made of, in a few lines for people.
#pragma once

#include <string>

#include "config/model_options.h"

namespace regard {

// "attention  additive, size 512\nencoder  …\ndecoder  …\n"
std::string layers_text(const ModelOptions& options);

// The attention to the source by its kind's name: that of a Transformer's decoder is multi_head.
std::string attention_kind(const ModelOptions& options);

}  // namespace regard
