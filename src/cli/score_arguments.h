// regard score, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include "cli/model_arguments.h"

namespace regard {

struct ScoreArguments {
  ModelArguments model;
  std::string source;
  std::string target;
  std::string n_best;
  std::string feature = "regard";
  std::string output;
  std::int64_t batch_size = 64;
  bool words = false;
  bool json = false;
  std::string align;
  std::string reverse;
  std::string symmetrise = "grow-diag-final-and";
  std::string gold;
};

CLI::App* add_score(CLI::App& program, ScoreArguments& arguments);

}  // namespace regard
