// Sequences of feature vectors as the source of a model: sound (data/log_mel.h) or images, for
// example. The frames of an image are its rows of pixels, from the top, each row the numbers of its
// pixels from the left (data/png_file.h).
//
// A feature file is in the format of the Python package `safetensors`. Its tensors are
//
//     features  [frames, F] F32   the frames of all items, one item after the other
//     lengths   [items] I64       the number of frames of each item
//
// and its metadata can have
//
//     settings       the way in which the features were computed, in words
//     frame_seconds  the time from one frame to the next
//
// Item i belongs to line i of the target file. The file is mapped, not read, so that it can be
// larger than memory. Everything that reads source lines sees a feature file as text with one line
// for each item, its name: `speech/train.safetensors:12`, counted from 1. Items can also be given
// by these names, on standard input or in a text file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"

namespace regard {

// The frames of an item, in a mapped file.
struct Frames {
  std::span<const float> values = {};  // [count, width]
  std::int64_t width = 0;              // F; 0 if there are no features

  std::int64_t count() const { return width == 0 ? 0 : std::ssize(values) / width; }
};

// Immutable, so threads can share it.
class FeatureFile {
 public:
  // Opens a file and checks its header and its lengths. Throws InputError with the path and the
  // fault.
  explicit FeatureFile(std::string path);

  const std::string& path() const { return path_; }
  std::int64_t size() const { return std::ssize(ends_); }  // number of items
  std::int64_t width() const { return width_; }            // F
  const std::string& settings() const { return settings_; }
  // Returns the time from one frame to the next; 0 if it is not known.
  double frame_seconds() const { return frame_seconds_; }
  // Returns the number of frames of item i < size().
  std::int64_t length(std::int64_t i) const { return end(i) - begin(i); }
  // Returns the frames of item i < size(). They are not checked, and valid while this lives.
  Frames item(std::int64_t i) const;
  // Returns the frames of item `number` from 1. Throws InputError, with the path and the item, if
  // there is no such item, or if a number is not finite.
  Frames checked_item(std::int64_t number) const;

 private:
  std::int64_t begin(std::int64_t i) const { return i == 0 ? 0 : end(i - 1); }
  std::int64_t end(std::int64_t i) const { return ends_[static_cast<std::size_t>(i)]; }

  std::string path_;
  MappedFile bytes_;
  std::vector<std::int64_t> ends_;  // of each item, in frames
  const float* values_ = nullptr;   // [frames, F]
  std::int64_t width_ = 0;
  std::string settings_;
  double frame_seconds_ = 0;
};

// Returns true if `path` is a regular file that begins like a feature file.
bool is_feature_file(const std::string& path);

// Returns the name of item `number` of a file, from 1: "speech/train.safetensors:12".
std::string item_name(const std::string& path, std::int64_t number);

// The feature files that one model reads. Opens each file once and keeps it. Thread-safe.
class FeatureFiles {
 public:
  // The files must have features of this width, and if `settings` is not empty, of these settings.
  // If `image_height` is not 0, the items are images, and all have this number of frames.
  FeatureFiles(std::int64_t width, std::string settings, std::int64_t image_height = 0)
      : width_(width), settings_(std::move(settings)), image_height_(image_height) {}

  // Opens a file. Throws InputError as FeatureFile does, and if its features are others than those
  // of the model.
  const FeatureFile& file(const std::string& path) const;
  // Returns the frames of an item, given by its name. Throws InputError as file() and
  // FeatureFile::checked_item() do, and if this is no name, or an image of another height.
  Frames item(std::string_view name) const;
  // Returns the file of an item, given by its name. Throws as item() does.
  const FeatureFile& file_of(std::string_view name) const;
  const std::string& settings() const { return settings_; }

 private:
  std::int64_t width_;
  std::string settings_;
  std::int64_t image_height_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const FeatureFile>> files_;  // by their paths
};

}  // namespace regard
