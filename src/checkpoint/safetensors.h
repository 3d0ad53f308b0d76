// Named tensors in the public safetensors format, which Python's package of that name reads:
//
//     8 bytes   N, the header's length, little-endian
//     N bytes   JSON padded with spaces: {"__metadata__": {"key": "text"},
//               "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//     the rest  the tensors, row-major and little-endian, one after another without gaps
//
// Element types: F64 F32 F16 BF16 I64 I32 U8 BOOL.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regard {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;
using TensorMetadata = std::map<std::string, std::string>;

// The size in bytes of the file that would be written. Throws CheckpointError for what the format
// cannot hold: a name twice, an element type not listed above, text that is not UTF-8.
std::uint64_t safetensors_size(const NamedTensors& tensors, const TensorMetadata& metadata = {});

// Hands the file's bytes to `sink` in pieces; equal tensors give equal bytes. Tensors may live on
// any device and in any memory layout; one at a time is copied to the CPU.
void encode_safetensors(const NamedTensors& tensors, const TensorMetadata& metadata,
                        const std::function<void(std::string_view)>& sink);

// The tensors, on the CPU, in the order of the header; fills `metadata` if given. Trusts nothing:
// sizes are checked against the file's before memory is taken, and at most 100,000 tensors are
// read. Whatever is wrong is a CheckpointError that names the file, the tensor and the fault.
NamedTensors read_safetensors(const std::filesystem::path& path,
                              TensorMetadata* metadata = nullptr);

}  // namespace regard
