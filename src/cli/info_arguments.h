// regard info, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace regard {

struct InfoArguments {
  std::string model;
  bool json = false;
};

CLI::App* add_info(CLI::App& program, InfoArguments& arguments);

}  // namespace regard
