// Which model, and where it runs: the options of every verb that loads one.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace regard {

struct ModelArguments {
  std::string model;
  std::string device = "auto";
  std::int64_t threads = 0;
};

// -m, --device and --threads. Returns -m.
CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments);

}  // namespace regard
