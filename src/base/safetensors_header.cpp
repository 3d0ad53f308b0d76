#include "base/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/wire_format.h"

namespace regard {
namespace {

using Path = std::filesystem::path;

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 9> element_types{{
    {"F64", 8},
    {"F32", 4},
    {"F16", 2},
    {"BF16", 2},
    {"I64", 8},
    {"I32", 4},
    {"I8", 1},
    {"U8", 1},
    {"BOOL", 1},
}};

constexpr std::uint64_t length_bytes = 8;
// Limits memory: a parsed header takes up to 30 times its size. The reference implementation allows
// 100 MB. The largest models have about 10,000 tensors.
constexpr std::uint64_t max_header_bytes = 10'000'000;
constexpr std::size_t max_tensors = 100'000;
constexpr std::size_t max_dimensions = 64;  // as in LibTorch
constexpr int max_header_depth = 3;         // header, tensor, list of numbers

template <typename... Args>
[[noreturn]] void reject(const Path& path, fmt::format_string<Args...> format, Args&&... args) {
  throw CheckpointError("{}: not a valid safetensors file: {}", path.string(),
                        fmt::format(format, std::forward<Args>(args)...));
}

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
    if (depth < max_header_depth) return;
    reject(path_, "the header nests deeper than {} levels", max_header_depth);
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

SafetensorsEntry parse_entry(const Path& path, const std::string& name,
                             const nlohmann::json& json) {
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!json.is_object() || !json.contains(key)) reject(path, "tensor '{}' has no {}", name, key);
  }
  const std::string type = json["dtype"].is_string() ? json["dtype"].get<std::string>() : "";
  const std::uint64_t element_bytes = safetensors_element_bytes(type);
  if (element_bytes == 0) {
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
  SafetensorsEntry entry{name, type, {}, *begin, *end};

  // LibTorch multiplies the non-zero sizes for the strides, so their product must not overflow,
  // even if the tensor is empty.
  std::uint64_t max_count = std::numeric_limits<std::int64_t>::max() / element_bytes;
  std::uint64_t size = element_bytes;
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
void check_layout(const Path& path, const std::vector<SafetensorsEntry>& entries,
                  std::uint64_t data_bytes) {
  std::vector<const SafetensorsEntry*> by_offset;
  by_offset.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) by_offset.push_back(&entry);
  std::ranges::sort(by_offset, {},
                    [](const SafetensorsEntry* e) { return std::pair(e->begin, e->end); });
  std::uint64_t expected = 0;
  for (const SafetensorsEntry* entry : by_offset) {
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

}  // namespace

std::uint64_t safetensors_element_bytes(std::string_view type) {
  const auto found =
      std::ranges::find(element_types, type, [](const auto& known) { return known.first; });
  return found == element_types.end() ? 0 : found->second;
}

SafetensorsHeader read_safetensors_header(const Path& path, std::istream& in,
                                          std::uint64_t file_bytes) {
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
  SafetensorsHeader header;
  header.bytes = length_bytes + length;
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

// Concatenates strings, because inserting into an ordered Json searches all earlier names.
std::string encode_safetensors_header(const std::vector<SafetensorsEntry>& entries,
                                      const TensorMetadata& metadata) {
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
  for (const auto& entry : entries) {
    if (entry.name == "__metadata__") {
      throw CheckpointError("a tensor cannot be named '__metadata__' in a safetensors file");
    }
    if (!seen.insert(entry.name).second) {
      throw CheckpointError("two tensors are named '{}'", entry.name);
    }
    add(entry.name, {{"dtype", entry.type},
                     {"shape", entry.shape},
                     {"data_offsets", {entry.begin, entry.end}}});
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  return little_endian(std::uint64_t{json.size()}) + json;
}

bool begins_like_safetensors(std::string_view bytes) {
  // A header has fewer than 2^32 bytes, and text has no NUL.
  return bytes.size() > length_bytes && bytes[length_bytes] == '{' &&
         bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4);
}

}  // namespace regard
