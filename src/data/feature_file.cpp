#include "data/feature_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/safetensors_header.h"
#include "base/strings.h"

namespace regard {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read in place");

constexpr const char* make_one =
    "; make such a file with `regard features`, or write `features` and `lengths` with the Python "
    "package safetensors";

SafetensorsHeader read_header(const std::string& path, std::uint64_t file_bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError("{}: cannot be read", path);
  try {
    return read_safetensors_header(path, in, file_bytes);
  } catch (const CheckpointError& error) {
    throw InputError("{}{}", error.what(), make_one);
  }
}

const SafetensorsEntry& find_tensor(const std::string& path, const SafetensorsHeader& header,
                                    const std::string& name, std::string_view type) {
  const auto found = std::ranges::find(header.entries, name, &SafetensorsEntry::name);
  if (found == header.entries.end()) {
    throw InputError("{}: found no tensor `{}`, which a file of features has{}", path, name,
                     make_one);
  }
  if (found->type != type) {
    throw InputError("{}: found the element type {} in `{}`, expected {}", path, found->type, name,
                     type);
  }
  return *found;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string metadata_value(const SafetensorsHeader& header, const std::string& key) {
  const auto found = header.metadata.find(key);
  return found == header.metadata.end() ? "" : found->second;
}

double parse_seconds(const std::string& path, const std::string& text) {
  if (text.empty()) return 0;
  const auto seconds = parse_number<double>(text);
  if (seconds && std::isfinite(*seconds) && *seconds > 0) return *seconds;
  throw InputError("{}: found `{}` as frame_seconds in the metadata, expected a number above 0",
                   path, text);
}

// Splits the name of an item. Throws InputError if it has no number.
std::pair<std::string, std::int64_t> parse_item_name(std::string_view name) {
  const auto colon = name.rfind(':');
  if (colon != std::string_view::npos && colon > 0) {
    const auto number = parse_number<std::int64_t>(name.substr(colon + 1));
    if (number) return {std::string(name.substr(0, colon)), *number};
  }
  constexpr std::size_t longest = 80;
  throw InputError(
      "found `{}`, but the model reads features: expected a feature file, or an item of one, such "
      "as speech.safetensors:12",
      escape_controls(name.substr(0, longest)));
}

}  // namespace

FeatureFile::FeatureFile(std::string path) : path_(std::move(path)), bytes_(path_) {
  const auto bytes = bytes_.bytes();
  const auto header = read_header(path_, bytes.size());
  const auto& features = find_tensor(path_, header, "features", "F32");
  const auto& lengths = find_tensor(path_, header, "lengths", "I64");
  if (features.shape.size() != 2 || features.shape[1] == 0) {
    throw InputError("{}: found `features` of shape {}, expected [frames, numbers of a frame]",
                     path_, shape_text(features.shape));
  }
  if (lengths.shape.size() != 1) {
    throw InputError("{}: found `lengths` of shape {}, expected [items]", path_,
                     shape_text(lengths.shape));
  }
  const auto begin = header.bytes + features.begin;
  if (begin % alignof(float) != 0) {
    throw InputError(
        "{}: `features` begins at byte {}, expected a multiple of {}; write the file again, with "
        "tensors of the larger element types first",
        path_, begin, alignof(float));
  }
  values_ = reinterpret_cast<const float*>(bytes.data() + begin);
  width_ = features.shape[1];
  const auto frames = features.shape[0];
  const auto items = static_cast<std::size_t>(lengths.shape[0]);
  ends_.resize(items);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < items; ++i) {
    std::int64_t length = 0;
    std::memcpy(&length, bytes.data() + header.bytes + lengths.begin + i * sizeof length,
                sizeof length);
    if (length < 0 || length > frames - end) {
      throw InputError("{}: item {} has {} frames by `lengths`, but `features` has {} left", path_,
                       i + 1, length, frames - end);
    }
    end += length;
    ends_[i] = end;
  }
  if (end != frames) {
    throw InputError("{}: `features` has {}, but the sum of `lengths` is {}", path_,
                     counted(frames, "frame"), end);
  }
  settings_ = metadata_value(header, "settings");
  frame_seconds_ = parse_seconds(path_, metadata_value(header, "frame_seconds"));
}

Frames FeatureFile::item(std::int64_t i) const {
  return {{values_ + begin(i) * width_, static_cast<std::size_t>(length(i) * width_)}, width_};
}

Frames FeatureFile::checked_item(std::int64_t number) const {
  if (number < 1 || number > size()) {
    throw InputError("{}: found no item {}; the file has {}, counted from 1", path_, number,
                     counted(size(), "item"));
  }
  const auto frames = item(number - 1);
  const auto found =
      std::ranges::find_if(frames.values, [](float value) { return !std::isfinite(value); });
  if (found == frames.values.end()) return frames;
  const auto at = found - frames.values.begin();
  throw InputError(
      "{}: frame {}, number {} is {}, expected a finite number; compute the features of this item "
      "again",
      item_name(path_, number), at / width_ + 1, at % width_ + 1, *found);
}

bool is_feature_file(const std::string& path) {
  if (!is_file(path)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string start(16, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  return begins_like_safetensors(start);
}

std::string item_name(const std::string& path, std::int64_t number) {
  return path + ":" + std::to_string(number);
}

const FeatureFile& FeatureFiles::file(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  auto& entry = files_[path];
  if (entry) return *entry;
  auto file = std::make_unique<const FeatureFile>(path);
  if (file->width() != width_) {
    throw InputError("{}: found frames of {}, expected {} (model.encoder.numbers)", path,
                     counted(file->width(), "number"), width_);
  }
  if (!settings_.empty() && !file->settings().empty() && file->settings() != settings_) {
    throw InputError(
        "{}: found features of other settings ({}) than those of the model ({}); compute them with "
        "`regard features --like` the training file",
        path, file->settings(), settings_);
  }
  entry = std::move(file);
  return *entry;
}

const FeatureFile& FeatureFiles::file_of(std::string_view name) const {
  return file(parse_item_name(name).first);
}

Frames FeatureFiles::item(std::string_view name) const {
  const auto [path, number] = parse_item_name(name);
  const auto frames = file(path).checked_item(number);
  if (image_height_ == 0 || frames.count() == image_height_) return frames;
  throw InputError(
      "{}: found an image of {} rows of pixels, expected {} (model.encoder.image_height); scale "
      "it, or leave it out with its line of the target",
      item_name(path, number), frames.count(), image_height_);
}

}  // namespace regard
