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

// --device and --threads.
void add_device_options(CLI::App& command, ModelArguments& arguments);
// These and -m. Returns -m.
CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments);

}  // namespace regard
