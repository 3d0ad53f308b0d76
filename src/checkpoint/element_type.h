// The element types of the safetensors format: the names in the file and LibTorch's own.
#pragma once

#include <torch/types.h>

#include <array>
#include <string_view>

namespace regard {

struct ElementType {
  std::string_view name;
  torch::ScalarType type;
};

inline constexpr std::array<ElementType, 8> element_types{{
    {"F64", torch::kDouble},
    {"F32", torch::kFloat},
    {"F16", torch::kHalf},
    {"BF16", torch::kBFloat16},
    {"I64", torch::kLong},
    {"I32", torch::kInt},
    {"U8", torch::kByte},
    {"BOOL", torch::kBool},
}};

}  // namespace regard
