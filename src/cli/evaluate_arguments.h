// regard evaluate, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
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
  std::vector<std::string> hypotheses;
  std::string output;
  std::vector<std::string> metrics = {"bleu", "chrf"};
  std::string tokenizer = "13a";
  std::string smooth_method = "exp";
  std::optional<double> smooth_value;
  bool lowercase = false;
  std::size_t chrf_word_order = 0;
  bool ter_normalized = false;
  bool ter_no_punctuation = false;
  bool ter_asian_support = false;
  bool ter_case_sensitive = false;
  bool confidence = false;
  bool paired_bootstrap = false;
  bool paired_randomisation = false;
  std::optional<std::size_t> resamples;
  std::optional<std::size_t> trials;
  std::optional<std::uint64_t> resampling_seed;
  std::vector<std::size_t> by_length;
  std::string by_length_svg;
  std::vector<std::string> compared;
  std::vector<std::string> training;
  std::string gold;
  bool force = false;
  std::string format = "text";
  bool json = false;
};

CLI::App* add_evaluate(CLI::App& program, EvaluateArguments& arguments);

}  // namespace regard
