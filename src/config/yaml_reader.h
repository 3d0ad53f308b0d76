// Reads a YAML tree into an option struct and reports all errors. Private to config/, as are the
// headers of yaml-cpp.
#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "config/options.h"
#include "config/scalar.h"
#include "config/yaml_file.h"

namespace regard {

// Collects errors while reading continues.
class ReadErrors {
 public:
  // Has no effect if is_full().
  void add(std::string_view message);
  // True after 50 errors: reading should stop. A small file can have any number of errors, because
  // each alias of a section repeats its errors.
  bool is_full() const { return count_ >= 50; }
  // Throws ConfigError with one error per line, if there are any.
  void throw_if_any() const;

 private:
  std::string text_;
  int count_ = 0;
};

// Returns the message for the unknown key `name`: "unknown key `a.b`; did you mean `c`?". `section`
// is the full key of its section, `known` the names in that section. If `in_full`, as on the
// command line, suggests the full key `a.c`.
std::string unknown_key(const std::string& section, const std::string& name,
                        const std::vector<std::string>& known, bool in_full);

// Reads values from a YAML tree. Adds errors to `errors` and continues; a value with an error keeps
// its default. Both references must outlive the reader.
class YamlReader {
 public:
  // `has_lines` is true for a file: messages begin with `name:line`. For an argument of the command
  // line it is false: messages begin with `name`. Stores the location of each value in `locations`.
  YamlReader(ReadErrors& errors, SourceLocations& locations, std::string name, bool has_lines)
      : errors_(errors), locations_(locations), name_(std::move(name)), has_lines_(has_lines) {}

  // The context of a value before it is read: its full key (empty if `name` contains the key), its
  // range, and the line of its key, from 0.
  struct ValueContext {
    std::string key;
    Range range;
    int line = 0;
  };

  template <typename T>
  void read(T& value, const YAML::Node& node, const ValueContext& context) {
    // An override of a section does not change the location of keys that it does not set.
    if (!context.key.empty() && (has_lines_ || !Section<T>)) {
      locations_.set(context.key, location(context.line));
    }
    if constexpr (Section<T>) {
      read_section(value, node, context);
    } else if constexpr (List<T>) {
      read_list(value, node, context);
    } else if constexpr (Texts<T>) {
      read_texts(value, node, context);
    } else {
      read_scalar(value, node, context);
    }
  }

 private:
  template <Section T>
  void read_section(T& section, const YAML::Node& node, const ValueContext& context);
  template <List T>
  void read_list(T& list, const YAML::Node& node, const ValueContext& context);
  void read_texts(std::vector<std::string>& texts, const YAML::Node& node,
                  const ValueContext& context);
  template <typename T>
  void read_scalar(T& value, const YAML::Node& node, const ValueContext& context);

  // Returns the name of a key of `section`, or "" after an error. `seen` maps the names that were
  // read before in this section to their lines.
  std::string key_name(const YAML::Node& key, const ValueContext& section,
                       std::map<std::string, int>& seen);
  std::string location(int line) const;
  // These add an error.
  void fail(int line, const std::string& key, const std::string& what);
  void mismatch(const YAML::Node& node, const ValueContext& context, const std::string& expected,
                const std::string& hint = {});

  ReadErrors& errors_;
  SourceLocations& locations_;
  std::string name_;
  bool has_lines_;
};

// Describes a node for messages: abc, the text "quoted", a section, a list, nothing.
std::string node_text(const YAML::Node& node);
// True for a scalar in quotes, or with the tag !!str.
bool is_quoted(const YAML::Node& node);
// Names the largest integer if the scalar is a number above it and the range has no upper end.
std::string limit_hint(const YAML::Node& node, Range range);

template <Section T>
void YamlReader::read_section(T& section, const YAML::Node& node, const ValueContext& context) {
  if (node.IsNull()) return;
  if (!node.IsMap()) {
    const auto slip = node.IsScalar() ? missing_blank(node.Scalar()) : "";
    return mismatch(node, context, expected_text<T>({}), slip.empty() ? "" : "; " + slip);
  }
  std::map<std::string, int> seen;
  for (const auto& entry : node) {
    if (errors_.is_full()) return;
    const std::string name = key_name(entry.first, context, seen);
    if (name.empty()) continue;
    const int line = entry.first.Mark().line;
    const bool known = visit_field(section, name, [&](auto& value, Range range) {
      read(value, entry.second, {join_key(context.key, name), range, line});
    });
    if (known) continue;
    const auto slip = missing_blank(name);
    fail(line, "",
         slip.empty() ? unknown_key(context.key, name, field_names<T>(), !has_lines_)
                      : "unknown key `" + join_key(context.key, name) + "`; " + slip);
  }
}

template <List T>
void YamlReader::read_list(T& list, const YAML::Node& node, const ValueContext& context) {
  if (!node.IsNull() && !node.IsSequence()) return mismatch(node, context, expected_text<T>({}));
  list.clear();
  locations_.remove_below(context.key);
  for (const auto& entry : node) {
    if (errors_.is_full()) return;
    const std::string key = join_key(context.key, std::to_string(list.size()));
    read(list.emplace_back(), entry, {key, context.range, entry.Mark().line});
  }
}

template <typename T>
void YamlReader::read_scalar(T& value, const YAML::Node& node, const ValueContext& context) {
  const std::string expected = expected_text<T>(context.range);
  if (node.IsNull()) {
    return fail(context.line, context.key,
                "has no value; expected " + expected + " (leave the key out for its default)");
  }
  if (!node.IsScalar()) return mismatch(node, context, expected);
  if constexpr (std::same_as<T, std::string>) {
    value = node.Scalar();
  } else {
    T parsed{};
    if ((is_quoted(node) && !Choice<T>) || !from_yaml(node.Scalar(), parsed)) {
      std::string hint;
      if constexpr (Choice<T>) hint = did_you_mean(node.Scalar(), choice_names<T>());
      if constexpr (std::same_as<T, std::int64_t>) hint = limit_hint(node, context.range);
      return mismatch(node, context, expected, hint);
    }
    if constexpr (!Choice<T> && !std::same_as<T, bool>) {
      if (!is_in_range(static_cast<double>(parsed), context.range))
        return mismatch(node, context, expected);
    }
    value = parsed;
  }
}

}  // namespace regard
