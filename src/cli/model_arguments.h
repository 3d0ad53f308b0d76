// Which model, and where it runs: the options of every verb that loads one.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace regard {

struct ModelArguments {
  std::vector<std::string> models;  // several are an ensemble
  std::string ensemble_mean = "log_linear";
  std::vector<double> ensemble_weights;
  std::string device = "auto";
  std::int64_t threads = 0;
};

// --device and --threads.
void add_device_options(CLI::App& command, ModelArguments& arguments);
// These, -m, and what several models are made one by. Returns -m.
CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments);

}  // namespace regard
