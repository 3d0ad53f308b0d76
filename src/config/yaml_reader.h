// One YAML tree into one value, with every problem found. Private to config/, as are yaml-cpp's
// headers.
#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/origins.h"
#include "config/scalar.h"

namespace regard {

// Collects problems while reading on.
class Problems {
 public:
  void add(std::string_view message);
  // Nobody reads more: where few bytes stand for much, as aliases do, it would take all memory.
  bool enough() const { return count_ >= 50; }
  // ConfigError with one problem a line, if there is any.
  void throw_if_any() const;

 private:
  std::string text_;
  int count_ = 0;
};

// What to say of a key that is none: "unknown key `a.b`; did you mean `c`?". `section` is the key
// of the section it stands in, `known` the names there. A file wants the name suggested, the
// command line the key in full.
std::string unknown_key(const std::string& section, const std::string& name,
                        const std::vector<std::string>& known, bool in_full);

class YamlReader {
 public:
  // Messages begin with `name`; with :line for a file, without for an override. Where each value
  // was found goes into `origins`.
  YamlReader(Problems& problems, Origins& origins, std::string name, bool has_lines)
      : problems_(problems), origins_(origins), name_(std::move(name)), has_lines_(has_lines) {}

  // A value found in the tree: its full key (empty when `name` has it), the range it must lie in,
  // and its key's line, from 0.
  struct Place {
    std::string key;
    Range range;
    int line = 0;
  };

  template <typename T>
  void read(T& value, const YAML::Node& node, const Place& place) {
    // An override of a section leaves the keys that it does not name where they were set.
    if (!place.key.empty() && (has_lines_ || !Section<T>)) {
      origins_.set(place.key, where(place.line));
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

  // The name of a key, checked; empty after a problem. `seen`: names and their lines.
  std::string key_name(const YAML::Node& key, const Place& section,
                       std::map<std::string, int>& seen);
  std::string where(int line) const;
  void problem(int line, const std::string& key, const std::string& what);
  void mismatch(const YAML::Node& node, const Place& place, const std::string& wanted_text,
                const std::string& hint = {});

  Problems& problems_;
  Origins& origins_;
  std::string name_;
  bool has_lines_;
};

// What was found instead: abc, "quoted", a section, a list, nothing.
std::string found_text(const YAML::Node& node);
bool is_quoted(const YAML::Node& node);
// "; did you mean `x`?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

template <Section T>
void YamlReader::read_section(T& section, const YAML::Node& node, const Place& place) {
  if (node.IsNull()) return;
  if (!node.IsMap()) return mismatch(node, place, wanted<T>({}));
  std::map<std::string, int> seen;
  for (const auto& entry : node) {
    if (problems_.enough()) return;
    const std::string name = key_name(entry.first, place, seen);
    if (name.empty()) continue;
    const int line = entry.first.Mark().line;
    const bool known = visit_field(section, name, [&](auto& value, Range range) {
      read(value, entry.second, {join_key(place.key, name), range, line});
    });
    if (!known) problem(line, "", unknown_key(place.key, name, field_names(section), !has_lines_));
  }
}

template <List T>
void YamlReader::read_list(T& list, const YAML::Node& node, const Place& place) {
  if (!node.IsNull() && !node.IsSequence()) return mismatch(node, place, wanted<T>({}));
  list.clear();
  origins_.forget_below(place.key);
  for (const auto& entry : node) {
    if (problems_.enough()) return;
    const std::string key = join_key(place.key, std::to_string(list.size()));
    read(list.emplace_back(), entry, {key, place.range, entry.Mark().line});
  }
}

template <typename T>
void YamlReader::read_scalar(T& value, const YAML::Node& node, const Place& place) {
  const std::string expected = wanted<T>(place.range);
  if (node.IsNull()) {
    return problem(place.line, place.key,
                   "has no value; wanted " + expected + " (leave the key out for its default)");
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
      if (!fits(static_cast<double>(parsed), place.range)) return mismatch(node, place, expected);
    }
    value = parsed;
  }
}

}  // namespace regard
