// regard translate, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include "cli/model_arguments.h"
#include "cli/search_arguments.h"

namespace regard {

struct TranslateArguments {
  ModelArguments model;
  SearchArguments search;
  std::string input;
  std::string output;
  std::int64_t n_best = 0;
  std::string alignments;
  std::string picture;
  std::string report;
  bool show_attention = false;
  bool explain = false;
};

CLI::App* add_translate(CLI::App& program, TranslateArguments& arguments);

}  // namespace regard
