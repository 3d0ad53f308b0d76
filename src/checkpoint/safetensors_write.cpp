#include <bit>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "checkpoint/element_type.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/stamped_file.h"

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

// The length and the JSON, all that stands before the tensors' bytes.
std::string header_of(const NamedTensors& tensors, const TensorMetadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string_view> seen;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    check_writable(name, tensor);
    if (!seen.insert(name).second) throw CheckpointError("two tensors are named '{}'", name);
    const std::uint64_t end = offset + tensor.nbytes();
    header[name] = {{"dtype", element_name(name, tensor)},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string json;
  try {
    json = header.dump();
  } catch (const Json::exception&) {
    throw CheckpointError("a tensor's name or the metadata of a safetensors file is not UTF-8");
  }
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

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const TensorMetadata& metadata) {
  std::filesystem::path aside = path;
  aside += ".tmp";
  try {
    StampedFile file(aside);
    encode_safetensors(tensors, metadata, [&](std::string_view bytes) { file.append(bytes); });
    file.close();
    std::error_code error;
    std::filesystem::rename(aside, path, error);
    if (error) {
      throw EnvironmentError("{}: cannot be replaced ({})", path.string(), error.message());
    }
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    throw;
  }
  sync_to_disk(path.has_parent_path() ? path.parent_path() : ".");
}

}  // namespace regard
