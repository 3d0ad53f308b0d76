// regard config, on the command line: several verbs in one.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace regard {

// Of `config print`.
struct ConfigArguments {
  std::string config;
  std::vector<std::string> overrides;
  bool help_comments = false;
};

struct ConfigInitArguments {
  std::string source;
  std::string target;
  std::vector<std::string> dev;  // none, or the two files
  std::int64_t split = 0;        // pairs set apart for validation
  std::string name;
  std::string output;
  bool yes = false;
};

struct ConfigConvertArguments {
  std::string input;
  std::string output;
};

struct ConfigCommands {
  CLI::App* print;
  CLI::App* init;
  CLI::App* convert;
  CLI::App* docs;
  CLI::App* schema;
};

ConfigCommands add_config(CLI::App& program, ConfigArguments& print, ConfigInitArguments& init,
                          ConfigConvertArguments& convert);

}  // namespace regard
