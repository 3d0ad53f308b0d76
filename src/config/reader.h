// YAML, and key=value from the command line, to Options.
//
// What holds beyond plain YAML:
// - A file without keys, and a section or list without a value, are all defaults. A single value
//   left out (`epochs:`) is an error, as is a key twice in one section, or a second document.
// - A whole number may be written 1000 or 1e3. NaN and infinity are no numbers. Quoted numbers are
//   texts. Booleans are true, false, yes, no, on, off.
// - Anchors and aliases work; merge keys (<<) are refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "config/origins.h"

namespace regard {

// The options in a YAML file, then the overrides in their order, each "key=value" with the full
// key: training.epochs=3, data.train.0.weight=2 (one past the last entry adds one),
// data.train=[{src: a.en, trg: a.fr}] (replaces the list). What is to be a text is taken as it
// stands, unless it begins with a quote; all else is YAML.
//
// Throws ConfigError with all problems found, one a line, each as "file:line: …" or
// "command line: key=value: …" with the full key. `origins`, if given, learns where each value
// stands, for check_options().
Options read_options(const std::filesystem::path& path,
                     const std::vector<std::string>& overrides = {}, Origins* origins = nullptr);

// The same from YAML text; messages call it `name`.
Options parse_options(std::string_view yaml, const std::string& name,
                      const std::vector<std::string>& overrides = {}, Origins* origins = nullptr);

// Every key in full, sections before what is in them; entries of lists as data.train.0.src.
std::vector<std::string> all_keys();

}  // namespace regard
