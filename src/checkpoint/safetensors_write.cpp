#include <bit>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/element_type.h"
#include "checkpoint/safetensors.h"

namespace regard {
namespace {

static_assert(std::endian::native == std::endian::little, "the tensors' bytes are copied as is");

std::string_view element_name(const std::string& name, const torch::Tensor& tensor) {
  for (const ElementType& element : element_types) {
    if (tensor.scalar_type() == element.type) return element.name;
  }
  throw CheckpointError("tensor '{}': elements of type {} have no place in a safetensors file",
                        name, torch::toString(tensor.scalar_type()));
}

void check_writable(const std::string& name, const torch::Tensor& tensor) {
  if (name == "__metadata__") {
    throw CheckpointError("a tensor cannot be named '__metadata__' in a safetensors file");
  }
  if (!tensor.defined()) throw CheckpointError("tensor '{}' has no value to write", name);
  if (tensor.layout() != torch::kStrided) {
    throw CheckpointError("tensor '{}' is sparse, and safetensors files are dense", name);
  }
}

// The length and the JSON, all that stands before the tensors' bytes. Joined from texts: in an
// ordered Json each new name is looked for among all before it.
std::string header_of(const NamedTensors& tensors, const TensorMetadata& metadata) {
  std::string json = "{";
  const auto add = [&](const std::string& name, const Json& value) {
    if (json.size() > 1) json += ',';
    try {
      json += Json(name).dump() + ":" + value.dump();
    } catch (const Json::exception&) {
      throw CheckpointError("a tensor's name or the metadata of a safetensors file is not UTF-8");
    }
  };
  if (!metadata.empty()) add("__metadata__", metadata);
  std::set<std::string_view> seen;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    check_writable(name, tensor);
    if (!seen.insert(name).second) throw CheckpointError("two tensors are named '{}'", name);
    const std::uint64_t end = offset + tensor.nbytes();
    add(name, {{"dtype", element_name(name, tensor)},
               {"shape", tensor.sizes().vec()},
               {"data_offsets", {offset, end}}});
    offset = end;
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) {
    length += static_cast<char>(std::uint64_t{json.size()} >> shift & 0xff);
  }
  return length + json;
}

}  // namespace

std::uint64_t safetensors_size(const NamedTensors& tensors, const TensorMetadata& metadata) {
  std::uint64_t size = header_of(tensors, metadata).size();
  for (const auto& [name, tensor] : tensors) size += tensor.nbytes();
  return size;
}

void encode_safetensors(const NamedTensors& tensors, const TensorMetadata& metadata,
                        const std::function<void(std::string_view)>& sink) {
  sink(header_of(tensors, metadata));
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor dense = tensor.detach().to(torch::kCPU).contiguous();
    sink({static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()});
  }
}

}  // namespace regard
