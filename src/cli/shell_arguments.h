// regard completions and regard man, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace regard {

struct CompletionsArguments {
  std::string shell;
};

struct ManArguments {
  std::string verb;
  std::string into;
};

CLI::App* add_completions(CLI::App& program, CompletionsArguments& arguments);
CLI::App* add_man(CLI::App& program, ManArguments& arguments);

}  // namespace regard
