#include "config/docs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/options.h"
#include "config/scalar.h"
#include "config/yaml_reader.h"

namespace regard {
namespace {

template <typename T>
std::vector<std::string> values_of() {
  if constexpr (Choice<T>) return choice_names<T>();
  if constexpr (std::same_as<T, bool>) return {"true", "false"};
  return {};
}

template <Section T>
void collect_settings(const T& section, const std::string& above, std::vector<Setting>& all) {
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value) {
        const auto key = join_key(above, field.name);
        if constexpr (Section<Value>) {
          collect_settings(value, key, all);
        } else if constexpr (List<Value>) {
          collect_settings(typename Value::value_type{}, join_key(key, "0"), all);
        } else {
          all.push_back({key, full_help(field.readers, field.help), values_of<Value>(),
                         expected_text<Value>(field.range), to_yaml(value)});
        }
      },
      section);
}

template <Section T>
void collect_keys(const T& section, const std::string& key, std::vector<std::string>& keys) {
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value) {
        const std::string full = join_key(key, field.name);
        keys.push_back(full);
        if constexpr (Section<Value>) {
          collect_keys(value, full, keys);
        } else if constexpr (List<Value>) {
          collect_keys(typename Value::value_type{}, join_key(full, "0"), keys);
        }
      },
      section);
}

}  // namespace

std::vector<Setting> all_settings() {
  Options options;
  std::vector<Setting> all;
  collect_settings(options, "", all);
  return all;
}

namespace {

// Returns the documentation of the settings for which is_meant(setting.key) is true.
std::string documentation_of(const std::function<bool(const std::string&)>& is_meant) {
  std::string text;
  for (const auto& setting : all_settings()) {
    if (!is_meant(setting.key)) continue;
    text += fmt::format("{}{}\n  {}\n  {}; default {}\n", text.empty() ? "" : "\n", setting.key,
                        setting.help, setting.expected, setting.default_value);
  }
  return text;
}

// Returns the message for a key that does not exist, with a suggestion.
std::string unknown_full_key(const std::string& key) {
  std::string section;
  for (const auto name : split(key, '.')) {
    std::vector<std::string> known;  // the keys of the section
    const auto prefix = section.empty() ? "" : section + ".";
    for (const auto& full : all_keys()) {
      if (!full.starts_with(prefix)) continue;
      const auto child = full.substr(prefix.size(), full.find('.', prefix.size()) - prefix.size());
      if (std::ranges::count(known, child) == 0) known.push_back(child);
    }
    if (std::ranges::count(known, name) == 0) {
      return unknown_key(section, std::string(name), known, true);
    }
    section = join_key(section, name);
  }
  return unknown_key("", key, {}, true);
}

}  // namespace

std::string options_text(const std::string& key) {
  auto text = documentation_of([&](const std::string& setting) {
    return key.empty() || setting == key || setting.starts_with(key + ".");
  });
  if (text.empty()) {
    text = documentation_of([&](const std::string& setting) {
      return ("." + setting + ".").find("." + key + ".") != std::string::npos;
    });
  }
  if (text.empty()) throw ConfigError("{}", unknown_full_key(key));
  return text;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  Options options;
  collect_keys(options, "", keys);
  return keys;
}

namespace {

constexpr const char* intro = R"(# Configuration

<!-- Generated from src/config/*_options.h. Edit the help there, then run the tests with
REGARD_UPDATE=1 to update this page. -->

A configuration is one YAML file with the sections below. All keys are optional. The rules are:

- A missing or empty section has all defaults. Errors are: a single key without a value (`epochs:`),
  an unknown key, a duplicate key, and a value with a wrong type or out of range. All errors are
  reported at once, each with its file, line and full key.
- Integers may be written `1000` or `1e3`. A quoted value is a text, not a number. `true`, `yes`
  and `on` mean the same, as do `false`, `no` and `off`.
- Anchors (`&name`) and aliases (`*name`) are supported, merge keys (`<<`) are not.
- `key=value` on the command line overrides the file. It needs the full key:
  `training.learning_rate=0.0005`, `data.train.0.weight=2`, or a whole list as
  `'data.train=[{src: a.en, trg: a.fr}]'`. The index after the last entry appends an entry. If a
  key is given several times, the last value counts.

`configs/schema.json` describes the same for editors: begin a file with
`# yaml-language-server: $schema=schema.json`, and they complete keys and mark mistakes.
)";

// Escapes the characters that Markdown would interpret in a table.
std::string escape_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') result += '\\';
    result += c;
  }
  return result;
}

// Appends the table of a section's values, then its subsections and lists.
template <Section T>
void add_tables(const T& section, const std::string& key, std::string_view section_help,
                std::string& page) {
  const std::string heading = key.empty() ? "At the top" : fmt::format("`{}`", key);
  page += fmt::format("\n## {}\n", heading);
  if (!section_help.empty()) {
    std::string sentence = escape_cell(section_help);
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    page += fmt::format("\n{}.\n", sentence);
  }
  std::string rows;
  std::string subsections;
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value) {
        const std::string full = join_key(key, field.name);
        const std::string help = full_help(field.readers, field.help);
        if constexpr (Section<Value>) {
          add_tables(value, full, help, subsections);
        } else if constexpr (List<Value>) {
          add_tables(typename Value::value_type{}, full,
                     fmt::format("{}: a list, each entry with these keys", help), subsections);
        } else {
          rows += fmt::format("| `{}` | {} | `{}` | {} |\n", field.name,
                              escape_cell(expected_text<Value>(field.range)), to_yaml(value),
                              escape_cell(help));
        }
      },
      section);
  if (!rows.empty())
    page += "\n| key | value | default | description |\n|---|---|---|---|\n" + rows;
  page += subsections;
}

// Writes whole numbers without a decimal point: 1, not 1.0.
Json to_json_number(double value) {
  return std::trunc(value) == value ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// Returns the schema of a field. `value` is its default, `range` the range of a number.
template <typename T>
Json schema_of(const T& value, Range range) {
  Json schema;
  if constexpr (Section<T>) {
    schema["type"] = {"object", "null"};  // null: a section without keys, as in `data:`
    schema["additionalProperties"] = false;
    for_each_field(
        [&](const auto& field, const auto& own) {
          Json property = {{"description", full_help(field.readers, field.help)}};
          property.update(schema_of(own, field.range));
          schema["properties"][std::string(field.name)] = std::move(property);
        },
        value);
  } else if constexpr (List<T>) {
    schema["type"] = {"array", "null"};
    schema["items"] = schema_of(typename T::value_type{}, range);
  } else if constexpr (Texts<T>) {
    schema["type"] = {"array", "null"};
    schema["items"] = {{"type", "string"}};
    schema["default"] = value;
  } else {
    if constexpr (Choice<T>) {
      schema["enum"] = choice_names<T>();
      schema["default"] = to_yaml(value);
    } else {
      constexpr bool is_integer = std::same_as<T, std::int64_t>;
      constexpr bool is_real = std::same_as<T, double>;
      schema["type"] = is_integer              ? "integer"
                       : is_real               ? "number"
                       : std::same_as<T, bool> ? "boolean"
                                               : "string";
      if (std::isfinite(range.min)) schema["minimum"] = to_json_number(range.min);
      if (std::isfinite(range.max)) schema["maximum"] = to_json_number(range.max);
      if constexpr (is_real) {
        schema["default"] = to_json_number(value);
      } else {
        schema["default"] = value;
      }
    }
  }
  return schema;
}

}  // namespace

std::string options_markdown() {
  Options options;
  std::string page = intro;
  add_tables(options, "", "", page);
  return page;
}

std::string options_schema() {
  Options options;
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "A configuration of regard"}};
  schema.update(schema_of(options, Range{}));
  return schema.dump(2) + "\n";
}

}  // namespace regard
