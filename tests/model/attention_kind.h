// Attention kinds by name, for tests that have a name as their parameter.
#pragma once

#include <string_view>

#include "config/model_options.h"
#include "config/scalar.h"

namespace regard {

inline AttentionKind kind_named(std::string_view name) {
  AttentionKind kind{};
  if (!from_yaml(name, kind)) throw std::invalid_argument(std::string(name));
  return kind;
}

}  // namespace regard
