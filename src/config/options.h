// The whole configuration, in the structure of the YAML file, and the source location of each
// value. The initial values of the structs, here and in *_options.h, are the defaults.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "config/data_options.h"
#include "config/model_options.h"
#include "config/search_options.h"
#include "config/training_options.h"

namespace regard {

struct Options {
  std::string name = "model";
  std::string device = "auto";
  std::int64_t threads = 0;
  DataOptions data;
  ModelOptions model;
  TrainingOptions training;
  SearchOptions search;

  static constexpr auto fields = std::tuple{
      field("name", &Options::name, "name of the model"),
      field("device", &Options::device,
            "auto (cuda:0 if available, else cpu), cpu, cuda or cuda:N"),
      field("threads", &Options::threads,
            "CPU threads; 0 uses one for each processor that this process may use",
            between(0, 1024)),
      field("data", &Options::data, "corpora and tokenizer"),
      field("model", &Options::model, "architecture and sizes"),
      field("training", &Options::training, "training loop, optimizer, validation and checkpoints"),
      field("search", &Options::search, "search, for validation and translation")};
};

// Returns the largest number of encoder states of a training sentence, with </s>, or of an image.
constexpr std::int64_t max_source_states(const Options& o) {
  if (o.model.encoder.kind == EncoderKind::convolutional) return grid_of(o.model.encoder).size();
  if (o.data.source == SourceKind::text) return o.data.max_length + 1;
  const auto frames = frames_per_state(o.model.encoder);
  return (o.data.max_frames + frames) / frames;
}

// True if the model reads and writes words. Others read features, numbers or nothing, or write
// positions.
constexpr bool translates_text(const Options& o) {
  return o.data.source != SourceKind::features && o.model.encoder.numbers == 0 &&
         o.model.kind != ModelKind::language_model && o.model.output.kind != OutputKind::pointer;
}

// Stores where each value of a configuration was set, for error messages.
class SourceLocations {
 public:
  SourceLocations() = default;
  // `name` is the name of the configuration file.
  explicit SourceLocations(std::string name) : name_(std::move(name)) {}

  // Sets the location of a key: "file:3", or "command line: key=value".
  void set(const std::string& key, std::string location) { locations_[key] = std::move(location); }
  // Removes the locations of all keys below `key`, for a list that is replaced.
  void remove_below(const std::string& key) {
    std::erase_if(locations_,
                  [&](const auto& entry) { return entry.first.starts_with(key + "."); });
  }

  // Returns true if the value of a full key was set.
  bool has(const std::string& key) const { return locations_.contains(key); }
  // Returns the location of a full key. If the key was not set, returns the location of its
  // section, or the file name if the section was not set either. Empty if this object was
  // constructed without a file name.
  std::string of(std::string key) const {
    while (true) {
      const auto location = locations_.find(key);
      if (location != locations_.end()) return location->second;
      const auto dot = key.rfind('.');
      if (dot == std::string::npos) return name_;
      key.erase(dot);
    }
  }

 private:
  std::string name_;
  std::map<std::string, std::string> locations_;
};

}  // namespace regard
