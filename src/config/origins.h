// Where each value of a configuration was set, for messages about values read long ago.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace regard {

class Origins {
 public:
  Origins() = default;
  // `name`: what the configuration as a whole is called, its file.
  explicit Origins(std::string name) : name_(std::move(name)) {}

  // `place`: "file:3", or "command line: key=value".
  void set(const std::string& key, std::string place) { places_[key] = std::move(place); }
  // Forgets what is below a key: a list's entries, when a new list replaces it.
  void forget_below(const std::string& key);

  // The place of a full key; where it has its default, that of the section it would stand in, or
  // the file. Empty when nothing is known of where the options came from.
  std::string of(std::string key) const;

 private:
  std::string name_;
  std::map<std::string, std::string> places_;
};

}  // namespace regard
