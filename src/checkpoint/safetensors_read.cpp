#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "checkpoint/element_type.h"
#include "checkpoint/safetensors.h"

namespace regard {
namespace {

using Path = std::filesystem::path;

constexpr std::uint64_t length_bytes = 8;
// Parsed, a header takes up to thirty times its size; the reference implementation allows ten times
// as much. The largest models of all have some ten thousand tensors.
constexpr std::uint64_t header_limit = 10'000'000;
constexpr std::size_t name_limit = 100'000;
constexpr std::size_t dimension_limit = 64;  // as in LibTorch
constexpr int header_depth = 3;              // header, tensor, its list of numbers

template <typename... Args>
[[noreturn]] void refuse(const Path& path, fmt::format_string<Args...> format, Args&&... args) {
  throw CheckpointError("{}: not a sound safetensors file: {}", path.string(),
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

// Parses the JSON and notes the order of the names in it. Refuses a key given twice, which the
// parser would drop without a word, and nesting, which would take memory beyond the file's size.
class HeaderJson : private JsonStructure {
 public:
  HeaderJson(const Path& path, const std::string& text) : path_(path) {
    if (text.empty() || text[0] != '{') refuse(path, "its header is no JSON object");
    try {
      visit_json(text, *this);
      // Not the ordered Json: that one searches linearly, and a header can hold many names.
      root_ = nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& error) {
      refuse(path_, "its header is no valid JSON ({})", error.what());
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  const nlohmann::json& at(const std::string& name) const { return root_.at(name); }

 private:
  void open(int depth) override {
    if (depth < header_depth) return;
    refuse(path_, "its header nests deeper than {} levels", header_depth);
  }
  void key(int depth, const std::string& name) override {
    if (depth == 1) {
      if (names_.size() == name_limit) {
        refuse(path_, "its header names more than {} tensors", name_limit);
      }
      names_.push_back(name);
      keys_inside_.clear();
    }
    if (!(depth == 1 ? keys_ : keys_inside_).insert(name).second) {
      refuse(path_, "'{}' stands twice in its header", name);
    }
  }

  const Path& path_;
  nlohmann::json root_;
  std::vector<std::string> names_;
  std::set<std::string> keys_;
  std::set<std::string> keys_inside_;  // of the object that is open now
};

// A count out of the JSON; nothing for what is negative, fractional or no number.
std::optional<std::uint64_t> count_of(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

std::optional<torch::ScalarType> type_of(const nlohmann::json& value) {
  if (!value.is_string()) return std::nullopt;
  for (const ElementType& element : element_types) {
    if (value.get_ref<const std::string&>() == element.name) return element.type;
  }
  return std::nullopt;
}

Entry parse_entry(const Path& path, const std::string& name, const nlohmann::json& json) {
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!json.is_object() || !json.contains(key)) refuse(path, "tensor '{}' has no {}", name, key);
  }
  const std::optional<torch::ScalarType> type = type_of(json["dtype"]);
  if (!type) {
    refuse(path, "tensor '{}' has the unknown dtype {}", name, json["dtype"].dump());
  }
  const nlohmann::json& shape = json["shape"];
  const nlohmann::json& offsets = json["data_offsets"];
  if (!shape.is_array() || shape.size() > dimension_limit) {
    refuse(path, "the shape of tensor '{}' is no list of at most {} sizes", name, dimension_limit);
  }
  const bool pair = offsets.is_array() && offsets.size() == 2;
  const auto begin = pair ? count_of(offsets[0]) : std::nullopt;
  const auto end = pair ? count_of(offsets[1]) : std::nullopt;
  if (!begin || !end || *end < *begin) {
    refuse(path, "the data_offsets of tensor '{}' are no pair of begin and end", name);
  }
  Entry entry{name, *type, {}, *begin, *end};

  // LibTorch computes strides, so the product without the zeros must fit as well.
  std::uint64_t room = std::numeric_limits<std::int64_t>::max() / torch::elementSize(*type);
  std::uint64_t size = torch::elementSize(*type);
  for (const nlohmann::json& dimension : shape) {
    const std::optional<std::uint64_t> count = count_of(dimension);
    if (!count) refuse(path, "tensor '{}' has {} in its shape", name, dimension.dump());
    if (*count > room) refuse(path, "the shape of tensor '{}' is impossibly large", name);
    room /= std::max<std::uint64_t>(*count, 1);
    size *= *count;
    entry.shape.push_back(static_cast<std::int64_t>(*count));
  }
  if (size != entry.end - entry.begin) {
    refuse(path, "tensor '{}' has {} by its shape, {} by its data_offsets", name,
           counted(size, "byte"), entry.end - entry.begin);
  }
  return entry;
}

TensorMetadata parse_metadata(const Path& path, const nlohmann::json& json) {
  if (!json.is_object()) refuse(path, "its __metadata__ is no map of strings");
  TensorMetadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) refuse(path, "the __metadata__ of '{}' is no string", key);
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Every byte after the header belongs to exactly one tensor.
void check_layout(const Path& path, const std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::vector<const Entry*> by_offset;
  by_offset.reserve(entries.size());
  for (const Entry& entry : entries) by_offset.push_back(&entry);
  std::ranges::sort(by_offset, {}, [](const Entry* e) { return std::pair(e->begin, e->end); });
  std::uint64_t expected = 0;
  for (const Entry* entry : by_offset) {
    if (entry->begin != expected) {
      refuse(path, "tensor '{}' begins at byte {} of the data, but the one before ends at {}",
             entry->name, entry->begin, expected);
    }
    expected = entry->end;
  }
  if (expected != data_bytes) {
    refuse(path, "its header describes {} of data, the file holds {}", counted(expected, "byte"),
           data_bytes);
  }
}

// Leaves `in` at the first byte of the data.
Header read_header(const Path& path, std::ifstream& in, std::uint64_t file_bytes) {
  if (file_bytes < length_bytes) refuse(path, "it has only {}", counted(file_bytes, "byte"));
  unsigned char raw[length_bytes] = {};
  in.read(reinterpret_cast<char*>(raw), length_bytes);
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | raw[i];
  if (length > header_limit || length > file_bytes - length_bytes) {
    refuse(path, "its header claims {}, more than {}", counted(length, "byte"),
           length > header_limit ? "any model needs" : "the file has");
  }
  std::string text(length, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length))) refuse(path, "reading failed");

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
  if (!in.read(bytes, size)) refuse(path, "reading tensor '{}' failed", entry.name);
  // A bool that is neither 0 nor 1 has no meaning in C++.
  if (entry.type == torch::kBool &&
      std::any_of(bytes, bytes + size, [](unsigned char byte) { return byte > 1; })) {
    refuse(path, "tensor '{}' is BOOL but holds other bytes than 0 and 1", entry.name);
  }
  return tensor;
}

}  // namespace

NamedTensors read_safetensors(const Path& path, TensorMetadata* metadata) {
  if (!is_file(path)) {
    throw CheckpointError("{}: no such file (wanted: tensors in safetensors format)",
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
