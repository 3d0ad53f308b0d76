// regard config, on the command line: three verbs in one.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace regard {

// Of `config print`; the other two take none.
struct ConfigArguments {
  std::string config;
  std::vector<std::string> overrides;
  bool help_comments = false;
};

struct ConfigCommands {
  CLI::App* print;
  CLI::App* docs;
  CLI::App* schema;
};

ConfigCommands add_config(CLI::App& program, ConfigArguments& arguments);

}  // namespace regard
