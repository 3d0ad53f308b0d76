#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

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
  if (name == "__metadata__") {
    throw CheckpointError("a tensor cannot be named '__metadata__' in a safetensors file");
  }
  if (!tensor.defined()) throw CheckpointError("tensor '{}' is undefined", name);
  if (tensor.layout() != torch::kStrided) {
    throw CheckpointError("tensor '{}' is sparse, and safetensors files are dense", name);
  }
}

// Returns the bytes before the tensors: the length and the JSON. Concatenates strings, because
// inserting into an ordered Json searches all earlier names.
std::string encode_header(const NamedTensors& tensors, const TensorMetadata& metadata) {
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

// Reading.

constexpr std::uint64_t length_bytes = 8;
// Limits memory: a parsed header takes up to 30 times its size. The reference implementation allows
// 100 MB. The largest models have about 10,000 tensors.
constexpr std::uint64_t max_header_bytes = 10'000'000;
constexpr std::size_t max_tensors = 100'000;
constexpr std::size_t max_dimensions = 64;  // as in LibTorch
constexpr int max_depth = 3;                // header, tensor, list of numbers

template <typename... Args>
[[noreturn]] void reject(const Path& path, fmt::format_string<Args...> format, Args&&... args) {
  throw CheckpointError("{}: not a valid safetensors file: {}", path.string(),
                        fmt::format(format, std::forward<Args>(args)...));
}

struct Entry {
  std::string name;
  torch::ScalarType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;  // in bytes from the end of the header
  std::uint64_t end;
};

struct Header {
  std::vector<Entry> entries;
  TensorMetadata metadata;
};

// Parses the JSON and records the order of its names. Rejects duplicate keys, which the parser
// would drop silently, and deep nesting, which would take much more memory than the file.
class HeaderJson : private JsonVisitor {
 public:
  HeaderJson(const Path& path, const std::string& text) : path_(path) {
    if (text.empty() || text[0] != '{') reject(path, "the header is not a JSON object");
    try {
      visit_json(text, *this);
      // Does not use the ordered Json, whose lookup is linear: a header can have many names.
      root_ = nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& error) {
      reject(path_, "the header is not valid JSON ({})", error.what());
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  const nlohmann::json& at(const std::string& name) const { return root_.at(name); }

 private:
  void open(int depth) override {
    if (depth < max_depth) return;
    reject(path_, "the header nests deeper than {} levels", max_depth);
  }
  void key(int depth, const std::string& name) override {
    if (depth == 1) {  // a tensor or __metadata__
      if (names_.size() == max_tensors) {
        reject(path_, "the header names more than {} tensors", max_tensors);
      }
      names_.push_back(name);
      inner_keys_.clear();
    }
    if (!(depth == 1 ? keys_ : inner_keys_).insert(name).second) {
      reject(path_, "found '{}' twice in the header", name);
    }
  }

  const Path& path_;
  nlohmann::json root_;
  std::vector<std::string> names_;
  std::set<std::string> keys_;        // of the header itself
  std::set<std::string> inner_keys_;  // of the current inner object
};

// Returns nullopt if the value is not a non-negative integer.
std::optional<std::uint64_t> parse_count(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

std::optional<torch::ScalarType> parse_type(const nlohmann::json& value) {
  if (!value.is_string()) return std::nullopt;
  for (const ElementType& element : element_types) {
    if (value.get_ref<const std::string&>() == element.name) return element.type;
  }
  return std::nullopt;
}

Entry parse_entry(const Path& path, const std::string& name, const nlohmann::json& json) {
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!json.is_object() || !json.contains(key)) reject(path, "tensor '{}' has no {}", name, key);
  }
  const std::optional<torch::ScalarType> type = parse_type(json["dtype"]);
  if (!type) {
    reject(path, "tensor '{}' has the unknown dtype {}", name, json["dtype"].dump());
  }
  const nlohmann::json& shape = json["shape"];
  const nlohmann::json& offsets = json["data_offsets"];
  if (!shape.is_array() || shape.size() > max_dimensions) {
    reject(path, "the shape of tensor '{}' is not a list of at most {} sizes", name,
           max_dimensions);
  }
  const bool pair = offsets.is_array() && offsets.size() == 2;
  const auto begin = pair ? parse_count(offsets[0]) : std::nullopt;
  const auto end = pair ? parse_count(offsets[1]) : std::nullopt;
  if (!begin || !end || *end < *begin) {
    reject(path, "the data_offsets of tensor '{}' are not a pair of begin and end", name);
  }
  Entry entry{name, *type, {}, *begin, *end};

  // LibTorch multiplies the non-zero sizes for the strides, so their product must not overflow,
  // even if the tensor is empty.
  std::uint64_t max_count = std::numeric_limits<std::int64_t>::max() / torch::elementSize(*type);
  std::uint64_t size = torch::elementSize(*type);
  for (const nlohmann::json& dimension : shape) {
    const std::optional<std::uint64_t> count = parse_count(dimension);
    if (!count) {
      reject(path, "tensor '{}' has {} in its shape, expected a whole number", name,
             dimension.dump());
    }
    if (*count > max_count) reject(path, "the shape of tensor '{}' is impossibly large", name);
    max_count /= std::max<std::uint64_t>(*count, 1);
    size *= *count;
    entry.shape.push_back(static_cast<std::int64_t>(*count));
  }
  if (size != entry.end - entry.begin) {
    reject(path, "tensor '{}' needs {} by its shape, found {} by its data_offsets", name,
           counted(size, "byte"), entry.end - entry.begin);
  }
  return entry;
}

TensorMetadata parse_metadata(const Path& path, const nlohmann::json& json) {
  if (!json.is_object()) reject(path, "__metadata__ is not a map of strings");
  TensorMetadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) reject(path, "the value of '{}' in __metadata__ is not a string", key);
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Checks that every byte after the header belongs to exactly one tensor.
void check_layout(const Path& path, const std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::vector<const Entry*> by_offset;
  by_offset.reserve(entries.size());
  for (const Entry& entry : entries) by_offset.push_back(&entry);
  std::ranges::sort(by_offset, {}, [](const Entry* e) { return std::pair(e->begin, e->end); });
  std::uint64_t expected = 0;
  for (const Entry* entry : by_offset) {
    if (entry->begin != expected) {
      reject(path, "tensor '{}' begins at byte {} of the data, expected byte {}", entry->name,
             entry->begin, expected);
    }
    expected = entry->end;
  }
  if (expected != data_bytes) {
    reject(path, "the header describes {} of data, the file holds {}", counted(expected, "byte"),
           data_bytes);
  }
}

// Reads and checks the header. Leaves `in` at the first byte of the data.
Header read_header(const Path& path, std::ifstream& in, std::uint64_t file_bytes) {
  if (file_bytes < length_bytes) reject(path, "the file has only {}", counted(file_bytes, "byte"));
  unsigned char raw[length_bytes] = {};
  in.read(reinterpret_cast<char*>(raw), length_bytes);
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | raw[i];
  if (length > max_header_bytes || length > file_bytes - length_bytes) {
    reject(path, "the header claims {}, more than {}", counted(length, "byte"),
           length > max_header_bytes ? "any model needs" : "the file has");
  }
  std::string text(length, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length))) reject(path, "reading failed");

  const HeaderJson json(path, text);
  Header header;
  for (const std::string& name : json.names()) {
    if (name == "__metadata__") {
      header.metadata = parse_metadata(path, json.at(name));
    } else {
      header.entries.push_back(parse_entry(path, name, json.at(name)));
    }
  }
  check_layout(path, header.entries, file_bytes - length_bytes - length);
  return header;
}

torch::Tensor read_tensor(const Path& path, std::ifstream& in, std::streamoff data_start,
                          const Entry& entry) {
  torch::Tensor tensor = torch::empty(entry.shape, entry.type);
  char* bytes = static_cast<char*>(tensor.mutable_data_ptr());
  const auto size = static_cast<std::streamsize>(entry.end - entry.begin);
  if (size == 0) return tensor;
  in.seekg(data_start + static_cast<std::streamoff>(entry.begin));
  if (!in.read(bytes, size)) reject(path, "reading tensor '{}' failed", entry.name);
  // Reading a bool whose byte is neither 0 nor 1 is undefined behaviour in C++.
  if (entry.type == torch::kBool &&
      std::any_of(bytes, bytes + size, [](unsigned char byte) { return byte > 1; })) {
    reject(path, "tensor '{}' is BOOL but has bytes other than 0 and 1", entry.name);
  }
  return tensor;
}

}  // namespace

std::uint64_t safetensors_size(const NamedTensors& tensors, const TensorMetadata& metadata) {
  std::uint64_t size = encode_header(tensors, metadata).size();
  for (const auto& [name, tensor] : tensors) size += tensor.nbytes();
  return size;
}

void encode_safetensors(const NamedTensors& tensors, const TensorMetadata& metadata,
                        const std::function<void(std::string_view)>& sink) {
  sink(encode_header(tensors, metadata));
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor dense = tensor.detach().to(torch::kCPU).contiguous();
    sink({static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()});
  }
}

NamedTensors read_safetensors(const Path& path, TensorMetadata* metadata) {
  if (!is_file(path)) {
    throw CheckpointError("{}: no such file (expected: tensors in safetensors format)",
                          path.string());
  }
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw CheckpointError("{}: cannot be read", path.string());
  Header header = read_header(path, in, file_bytes);
  const std::streamoff data_start = in.tellg();
  NamedTensors tensors;
  for (const Entry& entry : header.entries) {
    tensors.emplace_back(entry.name, read_tensor(path, in, data_start, entry));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return tensors;
}

}  // namespace regard
