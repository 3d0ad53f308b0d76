// regard report, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include "cli/model_arguments.h"

namespace regard {

struct ReportArguments {
  ModelArguments model;  // its one model is the run
  std::string output;
  std::string source;
  std::string reference;
  std::string hypotheses;
  std::int64_t sentences = 5;
};

CLI::App* add_report(CLI::App& program, ReportArguments& arguments);

}  // namespace regard
