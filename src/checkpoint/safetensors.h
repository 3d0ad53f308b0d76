// Reads and writes named tensors in the format of the Python package `safetensors`
// (base/safetensors_header.h).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/safetensors_header.h"

namespace regard {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Returns the size in bytes of the encoded file. Throws CheckpointError if the format cannot
// represent the tensors: a duplicate name, an element type that the format does not have
// (base/safetensors_header.h), text that is not UTF-8.
std::uint64_t safetensors_size(const NamedTensors& tensors);

// Passes the bytes of the file to `sink` in several calls. Equal tensors produce equal bytes.
// Tensors may be on any device and have any strides; they are copied to the CPU one at a time.
// Throws CheckpointError like safetensors_size().
void encode_safetensors(const NamedTensors& tensors,
                        const std::function<void(std::string_view)>& sink);

// Reads the tensors to the CPU, in the order of the header, and fills `metadata` if given. Safe for
// untrusted files: sizes are checked against the file size before memory is allocated, and at
// most 100,000 tensors are read. A tensor of the name `left_out` is not read. Throws
// CheckpointError with the file, the tensor and the fault.
NamedTensors read_safetensors(const std::filesystem::path& path, TensorMetadata* metadata = nullptr,
                              std::string_view left_out = {});

}  // namespace regard
