// Reads a YAML tree into an option struct and reports all errors. Private to config/, as are the
// headers of yaml-cpp.
#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "config/scalar.h"

namespace regard {

// Collects errors while reading continues.
class ReadErrors {
 public:
  void add(std::string_view message);
  // True if reading should stop. Without a limit, a small file with aliases could exhaust memory.
  bool is_full() const { return count_ >= 50; }
  // Throws ConfigError with one error per line, if there are any.
  void throw_if_any() const;

 private:
  std::string text_;
  int count_ = 0;
};

// Returns the message for an unknown key: "unknown key `a.b`; did you mean `c`?". `section` is the
// full key of its section, `known` the names in that section. `in_full`: suggest the full key, for
// the command line, instead of its last part.
std::string unknown_key(const std::string& section, const std::string& name,
                        const std::vector<std::string>& known, bool in_full);

class YamlReader {
 public:
  // Messages begin with `name`, and with `name:line` if `has_lines`. Stores the location of each
  // value in `locations`.
  YamlReader(ReadErrors& errors, SourceLocations& locations, std::string name, bool has_lines)
      : errors_(errors), locations_(locations), name_(std::move(name)), has_lines_(has_lines) {}

  // Describes a value of the tree: its full key (empty if `name` includes it), its range, and the
  // 0-based line of its key.
  struct Place {
    std::string key;
    Range range;
    int line = 0;
  };

  template <typename T>
  void read(T& value, const YAML::Node& node, const Place& place) {
    // An override of a section does not change the location of keys that it does not set.
    if (!place.key.empty() && (has_lines_ || !Section<T>)) {
      locations_.set(place.key, location(place.line));
    }
    if constexpr (Section<T>) {
      read_section(value, node, place);
    } else if constexpr (List<T>) {
      read_list(value, node, place);
    } else {
      read_scalar(value, node, place);
    }
  }

 private:
  template <Section T>
  void read_section(T& section, const YAML::Node& node, const Place& place);
  template <List T>
  void read_list(T& list, const YAML::Node& node, const Place& place);
  template <typename T>
  void read_scalar(T& value, const YAML::Node& node, const Place& place);

  // Returns the name of a key, or "" after an error. `seen` maps names to lines.
  std::string key_name(const YAML::Node& key, const Place& section,
                       std::map<std::string, int>& seen);
  std::string location(int line) const;
  void fail(int line, const std::string& key, const std::string& what);
  void mismatch(const YAML::Node& node, const Place& place, const std::string& expected,
                const std::string& hint = {});

  ReadErrors& errors_;
  SourceLocations& locations_;
  std::string name_;
  bool has_lines_;
};

// Describes a node for messages: abc, the text "quoted", a section, a list, nothing.
std::string node_text(const YAML::Node& node);
bool is_quoted(const YAML::Node& node);
// Returns "; did you mean `x`?", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

template <Section T>
void YamlReader::read_section(T& section, const YAML::Node& node, const Place& place) {
  if (node.IsNull()) return;
  if (!node.IsMap()) return mismatch(node, place, expected_text<T>({}));
  std::map<std::string, int> seen;
  for (const auto& entry : node) {
    if (errors_.is_full()) return;
    const std::string name = key_name(entry.first, place, seen);
    if (name.empty()) continue;
    const int line = entry.first.Mark().line;
    const bool known = visit_field(section, name, [&](auto& value, Range range) {
      read(value, entry.second, {join_key(place.key, name), range, line});
    });
    if (!known) fail(line, "", unknown_key(place.key, name, field_names(section), !has_lines_));
  }
}

template <List T>
void YamlReader::read_list(T& list, const YAML::Node& node, const Place& place) {
  if (!node.IsNull() && !node.IsSequence()) return mismatch(node, place, expected_text<T>({}));
  list.clear();
  locations_.remove_below(place.key);
  for (const auto& entry : node) {
    if (errors_.is_full()) return;
    const std::string key = join_key(place.key, std::to_string(list.size()));
    read(list.emplace_back(), entry, {key, place.range, entry.Mark().line});
  }
}

template <typename T>
void YamlReader::read_scalar(T& value, const YAML::Node& node, const Place& place) {
  const std::string expected = expected_text<T>(place.range);
  if (node.IsNull()) {
    return fail(place.line, place.key,
                "has no value; expected " + expected + " (leave the key out for its default)");
  }
  if (!node.IsScalar()) return mismatch(node, place, expected);
  if constexpr (std::same_as<T, std::string>) {
    value = node.Scalar();
  } else {
    T parsed{};
    if ((is_quoted(node) && !Choice<T>) || !from_yaml(node.Scalar(), parsed)) {
      std::string hint;
      if constexpr (Choice<T>) hint = did_you_mean(node.Scalar(), choice_names<T>());
      return mismatch(node, place, expected, hint);
    }
    if constexpr (!Choice<T> && !std::same_as<T, bool>) {
      if (!is_in_range(static_cast<double>(parsed), place.range))
        return mismatch(node, place, expected);
    }
    value = parsed;
  }
}

}  // namespace regard
