// regard train, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regard {

struct TrainArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string device;
  std::optional<std::int64_t> threads;
  std::string init_from;
  bool fresh = false;
  bool fall_back = false;
  bool dry_run = false;
  bool json = false;
};

CLI::App* add_train(CLI::App& program, TrainArguments& arguments);

}  // namespace regard
