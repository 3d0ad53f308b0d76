// Reads Options from YAML and from key=value arguments of the command line.
//
// Rules beyond plain YAML:
// - An empty file, section or list has all defaults. A single key without a value (`epochs:`), a
//   duplicate key and a second document are errors.
// - Integers may be written 1000 or 1e3. NaN and infinity are errors. A quoted number is a string.
//   Booleans are true, false, yes, no, on, off.
// - Anchors and aliases are allowed; merge keys (<<) are not.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "config/options.h"
#include "config/scalar.h"

namespace regard {

// Reads a YAML file, then applies the overrides in order. An override is "key=value" with the full
// key: training.epochs=3, data.train.0.weight=2 (the index after the last entry appends one),
// data.train=[{src: a.en, trg: a.fr}] (replaces the list). The value of a string option is used
// verbatim unless it begins with a quote; other values are YAML.
//
// Throws ConfigError with all errors, one per line, each as "file:line: …" or
// "command line: key=value: …" with the full key. Stores the source location of each value in
// `locations`, if given, for check_options().
Options read_options(const std::filesystem::path& path,
                     const std::vector<std::string>& overrides = {},
                     SourceLocations* locations = nullptr);

// As read_options(), but reads YAML text. `name` is the file name in messages.
// Calls complete_language_model().
Options parse_options(std::string_view yaml, const std::string& name,
                      const std::vector<std::string>& overrides = {},
                      SourceLocations* locations = nullptr);

// Sets the field of a section of single values that `assignment`, "key=value", names. A string is
// used verbatim. Throws ConfigError, in which `kind` is "search option" or the like, for an unknown
// key, with the nearest one, and for a value that does not fit.
template <Section T>
void assign_option(T& section, const std::string& assignment, const std::string& kind) {
  const auto equals = assignment.find('=');
  const auto key = assignment.substr(0, equals);
  if (equals == std::string::npos) {
    throw ConfigError("{} `{}`: expected key=value", kind, assignment);
  }
  const auto text = assignment.substr(equals + 1);
  const bool known = visit_field(section, key, [&](auto& value, Range range) {
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::same_as<Value, std::string>) {
      value = text;
    } else {
      Value parsed{};
      bool fits = from_yaml(text, parsed);
      if constexpr (std::same_as<Value, std::int64_t> || std::same_as<Value, double>) {
        fits = fits && is_in_range(static_cast<double>(parsed), range);
      }
      if (!fits) {
        throw ConfigError("{} {}: found `{}`, expected {}", kind, key, text,
                          expected_text<Value>(range));
      }
      value = parsed;
    }
  });
  if (!known) throw unknown_name(kind, key, field_names<T>());
}

// Gives each value below the key `section` that was not set ("model.encoder") the value of `from`.
// `set` has the keys that were set. Returns the keys whose value changed.
std::vector<std::string> adopt_unset(Options& options, const Options& from,
                                     const SourceLocations& set, std::string_view section);

// Sets the options of a language model that follow from its kind. It reads one text: the lines of
// the target side stand on both sides of a corpus, and ratios of their lengths mean nothing. A
// masked language model has one vocabulary and one embedding matrix for input and output. Does
// nothing for translation models.
void complete_language_model(Options& options);

}  // namespace regard
