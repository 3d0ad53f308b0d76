#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>

#include "base/error.h"
#include "base/file.h"

namespace regard {
namespace {

using Path = std::filesystem::path;

struct ElementType {
  std::string_view name;  // in the file
  torch::ScalarType type;
};

constexpr std::array<ElementType, 9> element_types{{
    {"F64", torch::kDouble},
    {"F32", torch::kFloat},
    {"F16", torch::kHalf},
    {"BF16", torch::kBFloat16},
    {"I64", torch::kLong},
    {"I32", torch::kInt},
    {"I8", torch::kChar},
    {"U8", torch::kByte},
    {"BOOL", torch::kBool},
}};

// Writing.

static_assert(std::endian::native == std::endian::little,
              "tensor bytes are copied without conversion");

std::string_view element_name(const std::string& name, const torch::Tensor& tensor) {
  for (const ElementType& element : element_types) {
    if (tensor.scalar_type() == element.type) return element.name;
  }
  throw CheckpointError("tensor '{}': the element type {} does not exist in safetensors files",
                        name, torch::toString(tensor.scalar_type()));
}

void check_writable(const std::string& name, const torch::Tensor& tensor) {
  if (!tensor.defined()) throw CheckpointError("tensor '{}' is undefined", name);
  if (tensor.layout() != torch::kStrided) {
    throw CheckpointError("tensor '{}' is sparse, and safetensors files are dense", name);
  }
}

// Returns the header of a file with these tensors.
std::string encode_header(const NamedTensors& tensors) {
  std::vector<SafetensorsEntry> entries;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    check_writable(name, tensor);
    const std::uint64_t end = offset + tensor.nbytes();
    entries.push_back(
        {name, std::string(element_name(name, tensor)), tensor.sizes().vec(), offset, end});
    offset = end;
  }
  return encode_safetensors_header(entries, {});
}

// Reading.

// read_safetensors_header() has checked the type.
torch::ScalarType type_of(const SafetensorsEntry& entry) {
  return std::ranges::find(element_types, entry.type, &ElementType::name)->type;
}

torch::Tensor read_tensor(const Path& path, std::ifstream& in, std::streamoff data_start,
                          const SafetensorsEntry& entry) {
  const auto type = type_of(entry);
  torch::Tensor tensor = torch::empty(entry.shape, type);
  char* bytes = static_cast<char*>(tensor.mutable_data_ptr());
  const auto size = static_cast<std::streamsize>(entry.end - entry.begin);
  if (size == 0) return tensor;
  in.seekg(data_start + static_cast<std::streamoff>(entry.begin));
  const auto reject = [&](std::string_view fault) {
    throw CheckpointError("{}: not a valid safetensors file: {}", path.string(), fault);
  };
  if (!in.read(bytes, size)) reject(fmt::format("reading tensor '{}' failed", entry.name));
  // Reading a bool whose byte is neither 0 nor 1 is undefined behaviour in C++.
  if (type == torch::kBool &&
      std::any_of(bytes, bytes + size, [](unsigned char byte) { return byte > 1; })) {
    reject(fmt::format("tensor '{}' is BOOL but has bytes other than 0 and 1", entry.name));
  }
  return tensor;
}

}  // namespace

std::uint64_t safetensors_size(const NamedTensors& tensors) {
  std::uint64_t size = encode_header(tensors).size();
  for (const auto& [name, tensor] : tensors) size += tensor.nbytes();
  return size;
}

void encode_safetensors(const NamedTensors& tensors,
                        const std::function<void(std::string_view)>& sink) {
  sink(encode_header(tensors));
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor dense = tensor.detach().to(torch::kCPU).contiguous();
    sink({static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()});
  }
}

NamedTensors read_safetensors(const Path& path, TensorMetadata* metadata,
                              std::string_view left_out) {
  if (!is_file(path)) {
    throw CheckpointError("{}: no such file (expected: tensors in safetensors format)",
                          path.string());
  }
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw CheckpointError("{}: cannot be read", path.string());
  SafetensorsHeader header = read_safetensors_header(path, in, file_bytes);
  const auto data_start = static_cast<std::streamoff>(header.bytes);
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : header.entries) {
    if (!left_out.empty() && entry.name == left_out) continue;
    tensors.emplace_back(entry.name, read_tensor(path, in, data_start, entry));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return tensors;
}

}  // namespace regard
