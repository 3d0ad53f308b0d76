// regard evaluate, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/model_arguments.h"
#include "cli/search_arguments.h"

namespace regard {

struct EvaluateArguments {
  ModelArguments model;
  SearchArguments search;
  std::string source;
  std::vector<std::string> references;
  std::string hypotheses;
  std::string output;
  std::string tokenizer = "13a";
  bool lowercase = false;
  std::size_t chrf_word_order = 0;
  std::vector<std::size_t> by_length;
  std::string by_length_svg;
  std::vector<std::string> compared;
  std::string gold;
  bool json = false;
};

CLI::App* add_evaluate(CLI::App& program, EvaluateArguments& arguments);

}  // namespace regard
