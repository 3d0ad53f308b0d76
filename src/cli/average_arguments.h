// regard average, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace regard {

struct AverageArguments {
  std::vector<std::string> models;
  std::int64_t last = 0;  // 0: not asked for; so is best
  std::int64_t best = 0;
  std::string output;
};

CLI::App* add_average(CLI::App& program, AverageArguments& arguments);

}  // namespace regard
