// Remembers where each value of a configuration was set, for messages about it.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace regard {

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

  // Returns the location of a full key. If the key has its default, returns that of its section, or
  // the file name. Empty if the source of the options is unknown.
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
