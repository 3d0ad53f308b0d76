// The header of a file in the format of the Python package `safetensors`, without Torch:
//
//     8 bytes   N, the length of the header, little-endian
//     N bytes   JSON padded with spaces: {"__metadata__": {"key": "text"},
//               "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//     the rest  the tensors, row-major and little-endian, without gaps
//
// Element types: F64 F32 F16 BF16 I64 I32 I8 U8 BOOL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

using TensorMetadata = std::map<std::string, std::string>;

struct SafetensorsEntry {
  std::string name;
  std::string type;  // one of those above
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // in bytes from the end of the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of the file
  TensorMetadata metadata;
  std::uint64_t bytes = 0;  // of the header: where the tensors begin in the file
};

// Returns the size of an element of this type in bytes, or 0 if there is no such type.
std::uint64_t safetensors_element_bytes(std::string_view type);

// Reads and checks the header at the start of `in`, a file of `file_bytes` bytes. Leaves `in` at
// the first byte of the tensors. Safe for untrusted files: every byte after the header belongs to
// exactly one tensor, and there are at most 100,000 tensors. Throws CheckpointError with the path,
// the tensor and the fault.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path, std::istream& in,
                                          std::uint64_t file_bytes);

// Returns the bytes before the tensors. Throws CheckpointError for a name that occurs twice, is
// `__metadata__` or is not UTF-8.
std::string encode_safetensors_header(const std::vector<SafetensorsEntry>& entries,
                                      const TensorMetadata& metadata);

// Returns true if a file may begin with these bytes, of which 9 are enough. No text does.
bool begins_like_safetensors(std::string_view bytes);

}  // namespace regard
